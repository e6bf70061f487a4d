"use client";

import { useSearchParams } from "next/navigation";

/** Changes some parameters of the address; an empty value takes one out. Reload, back and a pasted link give the same screen. */
function nextUrl(changes: Readonly<Record<string, string>>): string {
  const params = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString();
  return query === "" ? location.pathname : `${location.pathname}?${query}`;
}

export interface UrlState {
  get(name: string): string;
  /** A step that `back` undoes, such as a chosen word of the ledger. */
  step(changes: Readonly<Record<string, string>>): void;
  /** A change while one works on, such as a letter typed. */
  adjust(changes: Readonly<Record<string, string>>): void;
}

export function useUrlState(): UrlState {
  const params = useSearchParams();
  return {
    get: (name) => params.get(name) ?? "",
    step: (changes) => history.pushState(null, "", nextUrl(changes)),
    adjust: (changes) => history.replaceState(null, "", nextUrl(changes)),
  };
}
