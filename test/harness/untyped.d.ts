// Types for some parts of test libraries that have no types of their own.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Interaction {
    readonly uid: string
    readonly prompt: { readonly name: string; readonly details: Record<string, unknown> }
    readonly params: Record<string, unknown>
    readonly session?: { readonly accountId: string }
  }
  interface Grant {
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: readonly string[]): void
    save(): Promise<string>
  }
  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant
    callback(): RequestListener
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<void>
    on(event: string, listener: (...values: unknown[]) => void): this
  }
}

declare module 'smtp-server' {
  import type { Readable } from 'node:stream'
  import type { Server } from 'node:net'

  interface Session {
    readonly envelope: {
      readonly mailFrom: { readonly address: string } | false
      readonly rcptTo: readonly { readonly address: string }[]
    }
  }
  export class SMTPServer {
    constructor(options: {
      authOptional?: boolean
      disabledCommands?: readonly string[]
      logger?: boolean
      onData?(stream: Readable, session: Session, done: (error?: Error | null) => void): void
    })
    readonly server: Server
    listen(port: number, host: string, listening?: () => void): Server
    close(closed?: () => void): void
    on(event: 'error', listener: (error: Error) => void): this
  }
}
