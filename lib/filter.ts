/** The filter line of every table: plain words, and `field:value` for the fields a table knows. No regular expressions. */
export interface Filter<Field extends string> {
  /** Lower case; each must be found in one of the row's texts. */
  readonly words: readonly string[];
  readonly fields: readonly { readonly field: Field; readonly value: string }[];
}

/** A term is a word, `"two words"`, `field:value` or `field:"two words"`. What looks like an unknown field is a plain word. */
export function parseFilter<Field extends string>(text: string, known: readonly Field[]): Filter<Field> {
  const words: string[] = [];
  const fields: { field: Field; value: string }[] = [];
  for (const term of termsOf(text.toLowerCase())) {
    const colon = term.indexOf(":");
    const field = known.find((name) => name.toLowerCase() === term.slice(0, Math.max(colon, 0)));
    if (field === undefined) words.push(term);
    else if (term.length > colon + 1) fields.push({ field, value: term.slice(colon + 1) });
  }
  return { words, fields };
}

function termsOf(text: string): string[] {
  const terms: string[] = [];
  let term = "";
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    else if (/\s/.test(char) && !quoted) {
      if (term !== "") terms.push(term);
      term = "";
    } else term += char;
  }
  return term === "" ? terms : [...terms, term];
}

/** What a row says to a filter, in lower case: the text that plain words look in, and the value of each field. */
export interface Haystack<Field extends string> {
  readonly text: string;
  readonly fields: Readonly<Record<Field, string>>;
}

/** Every word must be found and every field must hold its value; one field given twice means either. */
export function matches<Field extends string>(filter: Filter<Field>, row: Haystack<Field>): boolean {
  return (
    filter.words.every((word) => row.text.includes(word)) &&
    filter.fields.every(({ field }) => filter.fields.some((each) => each.field === field && row.fields[field].includes(each.value)))
  );
}
