/** The SCIM API at /scim/v2, through which a company's directory keeps its users and groups here up to date. */
import type { App, OwnRefusals } from '../http/index.ts'
import { prefix, ScimServer, type ScimServerDeps } from './scim-server.ts'
import { errorBody } from './protocol/errors.ts'
import { contentType } from './respond.ts'

/** Renders refusals that are made before a SCIM route is found, in SCIM's format (RFC 7644 section 3.12). */
export const scimRefusals: OwnRefusals = {
  prefix,
  contentType,
  render({ status, message }) {
    return Buffer.from(JSON.stringify(errorBody(status, undefined, message)))
  },
}

/** Registers every URL at and below `/scim/v2`. */
export function registerScim(app: App, deps: ScimServerDeps): void {
  new ScimServer(deps).register(app)
}
