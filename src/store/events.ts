export interface EventTable {
  organization_id: string
  sequence: number
  id: string
  type: string
  at: number
  body: Uint8Array
}
