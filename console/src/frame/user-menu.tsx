import { lazy, Suspense, useState } from "react";
import { menuButtonClass, UserLabel, type UserMenuProps } from "./user-label.tsx";

const load = () => import("./open-menu.tsx");
const OpenMenu = lazy(async () => ({ default: (await load()).OpenMenu }));

/** A failure is met again when the menu is opened. */
const preload = (): void => void load().catch(() => undefined);

/** The menu of the signed-in user. Its code comes when somebody turns to its button. */
export function UserMenu(props: UserMenuProps) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded="false"
      className={menuButtonClass}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
    >
      <UserLabel isCompact={props.isCompact} />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <OpenMenu {...props} />
    </Suspense>
  ) : (
    button
  );
}
