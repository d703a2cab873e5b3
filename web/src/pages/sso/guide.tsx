import { directoryGuides, guides } from '../../../words/en/sso-guides.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import type { ConnectionKind } from '../../api/sso.ts'
import classes from './sso.module.css'

/** Directories that have a guide: the sign-in providers, and some used only for provisioning. */
export type DirectoryProvider = ConnectionKind | keyof typeof directoryGuides

export function ConnectionGuide({ kind }: { readonly kind: ConnectionKind }) {
  return <Steps steps={guides[kind].connection} page={connectionPages[kind]} />
}

export function DirectoryGuide({ kind }: { readonly kind: DirectoryProvider }) {
  const steps = isConnection(kind) ? guides[kind].directory : directoryGuides[kind]
  return <Steps steps={steps} page={kind === 'other' ? 'scim' : `scim-${kind}`} />
}

function Steps({ steps, page }: { readonly steps: readonly string[]; readonly page: string }) {
  return (
    <>
      <ol className={classes.guide}>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>
        <a href={`/guides/${page}`} target="_blank" rel="noreferrer">
          {ssoWords.connection.wholeGuide}
        </a>
      </p>
    </>
  )
}

function isConnection(kind: DirectoryProvider): kind is ConnectionKind {
  return kind in guides
}

/** The name of each guide's file in docs/guides, without the extension, by the kind of connection. */
const connectionPages: Readonly<Record<ConnectionKind, string>> = {
  okta: 'sso-okta',
  entra: 'sso-entra',
  google: 'sso-google',
  other: 'sso-openid-connect',
}
