import type { ComponentProps, ReactNode } from "react";
import { Icon, type IconName } from "@/components/ui/icon";
import { Tooltip } from "@/components/ui/tooltip";

type Look = "plain" | "main" | "quiet";

const looks: Readonly<Record<Look, string>> = { plain: "btn", main: "btn btn-main", quiet: "btn btn-quiet" };

interface ButtonProps extends Omit<ComponentProps<"button">, "disabled"> {
  look?: Look;
  icon?: IconName;
  /** Why it can't be used now: the button stays, can be focused, and says so. */
  refused?: string | undefined;
}

export function Button({ look = "plain", icon, refused, onClick, children, className = "", ...rest }: ButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      className={`${looks[look]} ${className}`}
      aria-disabled={refused === undefined ? undefined : true}
      onClick={refused === undefined ? onClick : (event) => event.preventDefault()}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
  return refused === undefined ? button : <Tooltip text={refused}>{button}</Tooltip>;
}

/** A button of an icon alone; the label is read out and shown on hover. */
export function IconButton(props: { label: string; icon: IconName; small?: boolean; className?: string } & ComponentProps<"button">) {
  const { label, icon, small = false, className = "", ...rest } = props;
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      className={`btn btn-quiet btn-icon ${small ? "btn-sm" : ""} ${className}`}
    >
      <Icon name={icon} small={small} />
    </button>
  );
}

export function Keyboard({ children }: { children: ReactNode }) {
  return <kbd aria-hidden="true">{children}</kbd>;
}
