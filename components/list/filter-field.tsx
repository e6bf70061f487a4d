"use client";

import { useEffect, useRef, useState } from "react";
import { Keyboard } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";

const waitMs = 120;

interface FilterFieldProps {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
}

/** Filters by typing; `/` leads here from anywhere on the page, Escape empties it. */
export function FilterField({ value, onChange, placeholder }: FilterFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [emitted, setEmitted] = useState(value);
  if (value !== emitted) {
    setEmitted(value);
    setText(value);
  }
  useEffect(() => {
    if (text === emitted) return;
    const timer = setTimeout(() => {
      setEmitted(text);
      onChange(text);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [text, emitted, onChange]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <label className="field find">
      <Icon name="search" small />
      <span className="vh">Filter</span>
      <input
        ref={input}
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setText("")}
      />
      <Keyboard>/</Keyboard>
    </label>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
