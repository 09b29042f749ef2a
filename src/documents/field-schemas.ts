import * as z from 'zod';

/** Converts text from environment variables to the boolean or number that it represents. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Positive number of seconds. */
export const secondsFieldSchema = z.preprocess(
  fromText,
  z.number().positive('must be greater than 0 seconds'),
);

/** Number of seconds; 0 or less means never. */
export const secondsOrNeverFieldSchema = z.preprocess(fromText, z.number());

/** Positive integer. */
export const countFieldSchema = z.preprocess(fromText, z.int().positive('must be at least 1'));

/** TCP port. */
export const portFieldSchema = z.preprocess(fromText, z.int().min(0).max(65_535));

/** Boolean. */
export const booleanFieldSchema = z.preprocess(fromText, z.boolean());

/** Non-empty text: an environment variable without a value is reported. */
export const textFieldSchema = z.string().min(1, 'must not be empty');
