"use client";

import { useState, type FormEvent } from "react";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Mark } from "@/components/shell/mark";
import { keepToken } from "@/components/shell/token";

const tokenShape = /^[A-Za-z0-9_-]{20,}$/;
const tokenInUrl = /#token=([A-Za-z0-9_-]+)$/;

/** Asks for the token when the page was opened without the printed URL, or when Voldeck was started anew. */
export function TokenPrompt() {
  const [problem, setProblem] = useState<string>();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    const token = tokenInUrl.exec(entered)?.[1] ?? entered;
    if (tokenShape.test(token)) keepToken(token);
    else setProblem("This is not a token: paste the printed URL, or the part after #token=.");
  }

  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <section className="sec w-full max-w-prose" aria-labelledby="token-title">
        <div className="empty">
          <Mark className="mb-3 size-6 text-accent" />
          <h1 id="token-title" className="mb-1">
            Voldeck needs its token
          </h1>
          <p>
            Each start prints a URL that ends in <code>#token=…</code>. Open that one, or paste it here. It is also the file{" "}
            <code>token</code> in the data folder. This tab keeps it until it is closed; nothing else gets it.
          </p>
          <form onSubmit={submit} className="row-acts">
            <label className="field flex-1">
              <Icon name="lock" small />
              <span className="vh">Token or printed URL</span>
              <input
                name="token"
                autoFocus
                autoComplete="off"
                spellCheck={false}
                placeholder="Printed URL or token"
                aria-invalid={problem !== undefined}
                aria-describedby="token-problem"
              />
            </label>
            <Button type="submit" look="main">
              Open
            </Button>
          </form>
          <p id="token-problem" role="alert" className="text-failed-fg">
            {problem}
          </p>
        </div>
      </section>
    </main>
  );
}
