/** Goldens `quantity`: parsing, printing and arithmetic of resource.Quantity. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { messageOf } from "@/lib/errors";
import type { Quantity, QuantityFormat } from "@/lib/quantity";
import { newMilliQuantity, newQuantity, newScaledQuantity, parseQuantity, unmarshalQuantity } from "@/lib/quantity";

type Input = GoldenLine["in"];

const questions: Readonly<Record<string, (input: Input) => unknown>> = {
  parse: (input) => describe(parseQuantity(textOf(input, "text"))),
  unmarshal: (input) => brief(unmarshalQuantity(textOf(input, "json"))),
  cmp: (input) => {
    const [a, b] = pair(input);
    return { cmp: a.cmp(b), equal: a.equals(b) };
  },
  cmpInt64: (input) => parseQuantity(textOf(input, "a")).cmpInt64(BigInt(textOf(input, "b"))),
  add: (input) => {
    const [a, b] = pair(input);
    return brief(a.add(b));
  },
  sub: (input) => {
    const [a, b] = pair(input);
    return brief(a.sub(b));
  },
  neg: (input) => brief(parseQuantity(textOf(input, "a")).neg()),
  mul: (input) => {
    const { product, fits } = parseQuantity(textOf(input, "a")).mul(BigInt(textOf(input, "by")));
    return { ...brief(product), ok: fits };
  },
  sum: (input) => {
    const list: unknown[] = Array.isArray(input["list"]) ? input["list"] : [];
    return brief(list.reduce((total: Quantity, text) => total.add(parseQuantity(String(text))), unmarshalQuantity("null")));
  },
  roundUp: (input) => {
    const { rounded, exact } = parseQuantity(textOf(input, "a")).roundUp(Number(input["scale"]));
    return { ...brief(rounded), exact };
  },
  scaledValue: (input) => parseQuantity(textOf(input, "a")).scaledValue(Number(input["scale"])).toString(),
  new: (input) => brief(newQuantity(BigInt(textOf(input, "value")), formatOf(input))),
  newMilli: (input) => brief(newMilliQuantity(BigInt(textOf(input, "value")), formatOf(input))),
  newScaled: (input) => brief(newScaledQuantity(BigInt(textOf(input, "value")), Number(input["scale"]))),
};

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    const question = questions[line.fn];
    if (question === undefined) throw new Error(`unknown fn ${line.fn}`);
    try {
      return Promise.resolve({ out: question(line.in) });
    } catch (error) {
      return Promise.resolve({ err: messageOf(error) });
    }
  },
};

function describe(quantity: Quantity): Record<string, unknown> {
  const asInt64 = quantity.asInt64();
  return {
    ...brief(quantity),
    json: JSON.stringify(quantity),
    milliValue: quantity.milliValue().toString(),
    asInt64: { ok: asInt64.fits, value: asInt64.value.toString() },
    isZero: quantity.isZero(),
    sign: quantity.sign(),
    float: quantity.toNumber(),
  };
}

function brief(quantity: Quantity): Record<string, unknown> {
  return { string: quantity.toString(), value: quantity.value().toString(), format: quantity.format };
}

function pair(input: Input): [Quantity, Quantity] {
  return [parseQuantity(textOf(input, "a")), parseQuantity(textOf(input, "b"))];
}

function textOf(input: Input, key: string): string {
  return String(input[key]);
}

function formatOf(input: Input): QuantityFormat {
  return textOf(input, "format") as QuantityFormat;
}
