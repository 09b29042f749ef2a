import { standard } from './standard.ts';
import { testRows } from './test-rows.ts';

testRows(standard);
