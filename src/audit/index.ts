/** The audit log: entries of who changed what, in one chain per organization. */
export { record } from './record.ts'
export { createDenials, type Denials } from './denials.ts'
export type { SignedHead } from './chain.ts'
export { createAudit, type Audit, type AuditEntry } from './entries.ts'

export { AuditExport } from './export-otlp.ts'
export { cell, toCsv, toJsonLines, type AuditPages } from './export.ts'
