import { Menu } from "@base-ui/react/menu";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { sessionKey, signOut } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { Icon } from "../ui/icon.tsx";
import { Modal } from "../ui/modal.tsx";
import { ErrorState } from "../ui/states.tsx";
import { storedTheme, storeTheme, type Theme } from "./theme.ts";
import { menuButtonClass, UserLabel, type UserMenuProps } from "./user-label.tsx";

const itemClass =
  "flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none data-highlighted:bg-hover select-none";

const themes = { system: "As the system", light: "Light", dark: "Dark" } as const;

/** The menu of the signed-in user, which begins open: it is loaded when somebody opens it. */
export function OpenMenu({ openKeys, isCompact }: UserMenuProps) {
  const { user, role } = useSession();
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const client = useQueryClient();
  const [failure, setFailure] = useState<Error>();
  const leave = async () => {
    try {
      const issuer = await signOut();
      client.setQueryData(sessionKey, null);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
      if (issuer !== undefined) location.assign(issuer);
    } catch (reason) {
      setFailure(reason instanceof Error ? reason : new Error(String(reason)));
    }
  };
  const choose = (value: Theme) => {
    storeTheme(value);
    setTheme(value);
  };
  return (
    <>
      <Menu.Root defaultOpen>
        <Menu.Trigger className={menuButtonClass}>
          <UserLabel isCompact={isCompact} />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="end" className="z-40">
            <Menu.Popup className="popup min-w-56 p-1.5 text-[0.8125rem] outline-none">
              <div className="px-2.5 pt-1.5 pb-2">
                <p className="max-w-60 truncate font-medium">{user}</p>
                <p className="text-xs text-muted">{role.replaceAll("_", " ")}</p>
              </div>
              <Menu.Separator className="mx-1 mb-1.5 h-px bg-line" />
              <Menu.RadioGroup value={theme} onValueChange={choose} aria-label="Theme">
                {Object.entries(themes).map(([value, label]) => (
                  <Menu.RadioItem key={value} value={value} className={itemClass} closeOnClick={false}>
                    <Icon name={value} />
                    <span className="flex-1">{label}</span>
                    <Menu.RadioItemIndicator>
                      <Icon name="check" />
                    </Menu.RadioItemIndicator>
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
              <Menu.Separator className="mx-1 my-1.5 h-px bg-line" />
              <Menu.Item className={itemClass} onClick={openKeys}>
                <Icon name="keyboard" />
                Keys
              </Menu.Item>
              <Menu.Item className={itemClass} onClick={() => void leave()}>
                <Icon name="leave" />
                Sign out
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Modal title="Sign out" isOpen={failure !== undefined} close={() => setFailure(undefined)}>
        {failure !== undefined && <ErrorState error={failure} retry={() => void leave()} />}
      </Modal>
    </>
  );
}
