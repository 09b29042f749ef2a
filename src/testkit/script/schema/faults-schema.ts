import * as z from 'zod';
import { faultSchema } from '../../faults/fault-schema.ts';

const namedFaultSchema = faultSchema.meta({ id: 'fault' });

/** Schema of one fault or a list of faults. */
export const faultsSchema = z
  .union([namedFaultSchema, z.array(namedFaultSchema)], {
    error: 'expected a fault, such as disconnect or { http: { status: 503 } }, or a list of faults',
  })
  .meta({ id: 'faults' });
