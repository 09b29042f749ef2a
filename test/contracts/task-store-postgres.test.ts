import { describePostgresTaskStore } from './fixtures/postgres-task-store.ts';

describePostgresTaskStore('PostgreSQL');
