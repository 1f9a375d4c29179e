/** Whether a number is a multiple of another one, as decimals: 19.99 is one of 0.01, although the floats divide to 1998.9999999999998. */
export function isMultiple(value: number, of: number): boolean {
  if (Number.isInteger(of) && !Number.isInteger(value)) return false;
  if (Number.isSafeInteger(of) && Number.isSafeInteger(value)) return value % of === 0;
  if (!Number.isFinite(of)) return value === 0;
  const [one, other] = [decimalOf(value), decimalOf(of)];
  const places = Math.max(one.places, other.places);
  const [dividend, divisor] = [scaled(one, places), scaled(other, places)];
  return Math.max(dividend.length, divisor.length) <= EXACT_DIGITS
    ? Number(dividend) % Number(divisor) === 0
    : BigInt(dividend) % BigInt(divisor) === 0n;
}

/** A float keeps every integer of so many digits. */
const EXACT_DIGITS = 15;

/** A number as its digits, and how many of them follow the point. */
interface Decimal {
  digits: string;
  places: number;
}

function decimalOf(value: number): Decimal {
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  return { digits: whole + fraction, places: fraction.length - Number(exponent) };
}

function scaled({ digits, places }: Decimal, wanted: number): string {
  return digits + "0".repeat(wanted - places);
}
