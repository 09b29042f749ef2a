import * as z from 'zod';
import { faultSchema } from '../../faults/fault-schema.ts';

const faultFormat = faultSchema.meta({ id: 'fault' });

/** One fault or several, as they are written. */
export const faultsSchema = z
  .union([faultFormat, z.array(faultFormat)], {
    error: 'expected a fault, such as cut or { http: { status: 503 } }, or a list of faults',
  })
  .meta({ id: 'faults' });
