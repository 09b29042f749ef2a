import * as z from 'zod';
import { faultSchema } from '../faults/fault-schema.ts';

/** One fault or several, as they are written. */
export const faultsFormat = z.union([faultSchema, z.array(faultSchema)], {
  error: 'expected a fault, such as cut or { http: { status: 503 } }, or a list of faults',
});
