import type { ComponentProps, ReactNode } from "react";

type ButtonProps = ComponentProps<"button"> & { kind?: "plain" | "primary" | "danger" };

const kinds = {
  plain: "control inline-flex items-center justify-center gap-2 font-medium",
  primary:
    "inline-flex h-[2.125rem] items-center justify-center gap-2 rounded-lg bg-accent-fill px-3.5 text-[0.8125rem] font-medium text-white hover:brightness-110 disabled:opacity-55",
  danger:
    "inline-flex h-[2.125rem] items-center justify-center gap-2 rounded-lg border border-bad px-3.5 text-[0.8125rem] font-medium text-bad hover:bg-bad-wash disabled:opacity-55",
};

/** Of a link that looks like a button. */
export const buttonClass = kinds.plain;

export function Button({ kind = "plain", className = "", type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={`${kinds[kind]} ${className}`} {...rest} />;
}

type IconButtonProps = ComponentProps<"button"> & { label: string; children: ReactNode };

/** A button that shows an icon alone; its label is read out. */
export function IconButton({ label, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`grid size-9 place-content-center rounded-lg text-soft hover:bg-hover ${className}`}
      {...rest}
    />
  );
}
