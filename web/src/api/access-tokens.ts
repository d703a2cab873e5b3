import { call, type Answer, type Input } from './call.ts'
import { listQuery } from './list.ts'

export type AccessToken = Answer<'GET /organizations/:organization/access-tokens/:access_token'>
export type AccessTokenInput = Input<'POST /organizations/:organization/access-tokens'>['body']

/** Access tokens, newest first, including revoked and expired ones. */
export function accessTokensQuery(organization: string) {
  return listQuery(
    [organization, 'access-tokens'],
    'GET /organizations/:organization/access-tokens',
    { path: { organization } },
  )
}

/** Issues a token; only this response contains its secret. */
export async function issueAccessToken(organization: string, body: AccessTokenInput) {
  return await call('POST /organizations/:organization/access-tokens', {
    path: { organization },
    body,
  })
}

/** Revokes a token; resolves when every node refuses it. */
export async function revokeAccessToken(organization: string, id: string) {
  return await call('POST /organizations/:organization/access-tokens/:access_token/revoke', {
    path: { organization, access_token: id },
  })
}
