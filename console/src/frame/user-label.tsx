import { useSession } from "../api/use-session.ts";
import { Icon } from "../ui/icon.tsx";

export interface UserMenuProps {
  openKeys: () => void;
  /** Without the name beside the picture, which screen readers get alone. */
  isCompact: boolean;
}

/** Of the button that opens the menu. */
export const menuButtonClass =
  "flex h-9 items-center gap-2 rounded-lg pr-2 pl-1 hover:bg-hover data-popup-open:bg-hover";

/** The content of that button. */
export function UserLabel({ isCompact }: Pick<UserMenuProps, "isCompact">) {
  const { user } = useSession();
  return (
    <>
      <span
        aria-hidden="true"
        data-initial={user.slice(0, 1)}
        className="grid size-7 place-content-center rounded-full bg-accent-wash text-xs font-semibold text-accent uppercase before:content-[attr(data-initial)]"
      />
      <span className={isCompact ? "sr-only" : "max-w-40 truncate text-[0.8125rem]"}>{user}</span>
      <Icon name="down" />
    </>
  );
}
