import { output } from './core-output.ts';
import { testRows } from './test-rows.ts';

testRows(output);
