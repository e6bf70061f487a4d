"use client";

import { useSyncExternalStore } from "react";

/**
 * The token of this tab. It comes in the fragment of the printed URL, which no server ever sees, and lives in sessionStorage:
 * another tab or another program on another port does not get it.
 */
const storageKey = "voldeck.token";
const fragment = /^#token=([A-Za-z0-9_-]+)$/;

const listeners = new Set<() => void>();

function emit(): void {
  for (const listener of listeners) listener();
}

/** Takes the token out of the address, so that a copied URL does not give it away. */
export function takeTokenFromFragment(): void {
  const token = fragment.exec(location.hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(storageKey, token);
  history.replaceState(history.state, "", location.pathname + location.search);
  emit();
}

export function currentToken(): string | undefined {
  return sessionStorage.getItem(storageKey) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(storageKey, token);
  emit();
}

export function forgetToken(): void {
  sessionStorage.removeItem(storageKey);
  emit();
}

function subscribe(listener: () => void): () => void {
  takeTokenFromFragment();
  addEventListener("hashchange", takeTokenFromFragment);
  listeners.add(listener);
  return () => {
    removeEventListener("hashchange", takeTokenFromFragment);
    listeners.delete(listener);
  };
}

/** `pending` while the page is not yet in a browser; undefined when there is none. */
export function useToken(): string | undefined | "pending" {
  return useSyncExternalStore(subscribe, tokenInBrowser, () => "pending" as const);
}

/** Also before the first subscription: React reads the snapshot once before it subscribes. */
function tokenInBrowser(): string | undefined {
  return fragment.exec(location.hash)?.[1] ?? currentToken();
}
