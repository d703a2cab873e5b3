/** What happened: entries (somebody changed something), in a chain per organization. */
export { record } from './record.ts'
