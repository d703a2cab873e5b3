import type { Answer, Input } from './call.ts'

export type Role = Member['role']
export type Permission =
  Answer<'GET /organizations/:organization/access-tokens/:access_token'>['permissions'][number]

export type Key = Answer<'GET /organizations/:organization/keys/:key'>
export type KeyInput = Input<'POST /organizations/:organization/keys'>['body']
export type Grant = NonNullable<KeyInput['grants']>[number]
export type Member = Answer<'GET /organizations/:organization/members/:member'>
export type Invitation = Answer<'GET /organizations/:organization/invitations'>['items'][number]
export type Session = Answer<'GET /me/sessions'>['items'][number]
export type AuditEntry = Answer<'GET /organizations/:organization/audit'>['items'][number]

export type Target = Answer<'GET /organizations/:organization/targets/:target'>
export type Rule = Target['rules'][number]
export type Tried = Answer<'POST /organizations/:organization/targets/:target/try'>
export type Call = Answer<'GET /organizations/:organization/calls/:call'>
export type Attention = Answer<'GET /organizations/:organization/attention'>['items'][number]
