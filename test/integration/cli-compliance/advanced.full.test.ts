import { advanced } from './advanced.ts';
import { testRows } from './test-rows.ts';

testRows(advanced);
