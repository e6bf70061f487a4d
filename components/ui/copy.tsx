"use client";

import { useEffect, useState } from "react";
import { IconButton } from "@/components/ui/button";

const shownForMs = 1500;

/** Copies a text; the icon turns into a check for a moment and the change is announced. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownForMs);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <>
      <IconButton
        small
        label={label}
        icon={copied ? "check" : "copy"}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      />
      <span className="vh" role="status">
        {copied ? "Copied" : ""}
      </span>
    </>
  );
}

/** A well with text to take along, such as a command or a rule. */
export function CopyField({ text, label }: { text: string; label: string }) {
  return (
    <div className="well code">
      <pre tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
      <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
    </div>
  );
}
