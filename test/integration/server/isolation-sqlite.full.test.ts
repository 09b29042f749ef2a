import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { describeTaskIsolation } from './isolation.ts';

describeTaskIsolation('SQLite', () => sqliteTaskStore({ file: ':memory:' }));
