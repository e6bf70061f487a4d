import { describe, expect, it } from "vitest";
import { isIPv6 } from "@/lib/ip";

describe("isIPv6", () => {
  it.each(["::1", "::", "0:0:0:0:0:0:0:1", "fe80::1", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7::", "::1.2.3.4", "64:ff9b::192.0.2.33", "1:2:3:4:5:6:1.2.3.4"])(
    "%s is one",
    (text) => expect(isIPv6(text)).toBe(true),
  );

  it.each(["", "localhost", "127.0.0.1", "::ffff:1.2.3.4", "::ffff:102:304", "fe80::1%eth0", "1:2:3", "1::2::3", "12345::", "::1.2.3", "::1.2.3.256", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", ":1:2:3:4:5:6:7", "g::1", "[::1]"])(
    "%s is none",
    (text) => expect(isIPv6(text)).toBe(false),
  );
});
