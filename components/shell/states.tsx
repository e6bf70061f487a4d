"use client";

import type { ReactNode } from "react";
import { errorCodeOf } from "@/components/errors";
import { useCluster } from "@/components/shell/status-context";
import { Button } from "@/components/ui/button";
import { CopyButton, CopyField } from "@/components/ui/copy";
import { Icon, type IconName } from "@/components/ui/icon";
import { messageOf } from "@/lib/errors";
import { rightsInWords, ruleFor, type MissingRight } from "@/lib/missing-right";

interface NoticeProps {
  icon: IconName;
  title: string;
  tone?: string;
  children?: ReactNode;
  actions?: ReactNode;
}

function Notice({ icon, title, tone = "", children, actions }: NoticeProps) {
  return (
    <div className="empty">
      <span className={`ic ${tone}`}>
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children}
      {actions && <div className="row-acts">{actions}</div>}
    </div>
  );
}

/** What would be here, and how to get it. */
export function Empty(props: NoticeProps) {
  return <Notice {...props} />;
}

/** What failed, why, what still works; asking again is one click. */
export function Failed({ what, error, onRetry, children }: { what: string; error: unknown; onRetry: () => void; children?: ReactNode }) {
  const text = messageOf(error);
  return (
    <div role="alert">
      <Notice
        icon="failed"
        tone="text-failed-solid"
        title={what}
        actions={
          <>
            <Button icon="retry" onClick={onRetry}>
              Try again
            </Button>
            <CopyButton text={`${what}: ${text}`} label="Copy details" />
          </>
        }
      >
        {children ?? <p>The other pages may still work; what they show is as fresh as the live light says.</p>}
        <div className="well proof">{text}</div>
      </Notice>
    </div>
  );
}

/** Names the right, and offers the rule. */
export function Forbidden({ what, missing, onRetry }: { what: string; missing: readonly MissingRight[]; onRetry: () => void }) {
  return (
    <Notice
      icon="lock"
      title={what}
      actions={
        <Button icon="retry" onClick={onRetry}>
          Check again
        </Button>
      }
    >
      <p>
        Missing: <span className="name">{rightsInWords(missing)}</span>. Ask a cluster admin to apply:
      </p>
      <CopyField label="Rule" text={ruleFor(missing, "voldeck-read")} />
    </Notice>
  );
}

interface UnreadableProps {
  what: string;
  error: unknown;
  onRetry: () => void;
  /** The page's own shape, for as long as the cluster is read for the first time. */
  skeleton: ReactNode;
}

/** In place of an object: it is still being read, its kind may not be read, or reading it failed. */
export function Unreadable({ what, error, onRetry, skeleton }: UnreadableProps) {
  const { status, reading } = useCluster();
  const code = errorCodeOf(error);
  if (reading && code === "transient") return skeleton;
  if (code === "forbidden" && status && status.missing.length > 0) return <Forbidden what={what} missing={status.missing} onRetry={onRetry} />;
  return <Failed what={what} error={error} onRetry={onRetry} />;
}

/** An address that leads to nothing, told apart from other failures. */
export function isNotFound(error: unknown): boolean {
  return errorCodeOf(error) === "not-found";
}

export function NotFound({ title, children, actions }: { title: string; children: ReactNode; actions?: ReactNode }) {
  return (
    <Notice icon="search" title={title} actions={actions}>
      {children}
    </Notice>
  );
}
