const timeoutMs = 10_000

/** What an invitation's mail says. */
export interface Letter {
  readonly to: string
  readonly organization: string
  readonly role: string
  readonly link: string
}

/** Sends mail through the operator's mail server. */
export interface Post extends Disposable {
  /** Whether the server took the mail; a mail that fails never fails the invitation, whose link can be handed over. */
  sendInvitation(letter: Letter): Promise<boolean>
}

/** Opens the way to a mail server (smtp://user:password@host:port); without one, no mail is sent. */
export async function createPost(deps: {
  smtpUrl: string | undefined
  baseUrl: string
  log: { warn(fields: object, text: string): void }
}): Promise<Post> {
  if (deps.smtpUrl === undefined) {
    return { sendInvitation: async () => false, [Symbol.dispose]() {} }
  }
  // Loaded only where there is a mail server.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(deps.smtpUrl, {
    from: `Intercept <intercept@${new URL(deps.baseUrl).hostname}>`,
    // Nothing that somebody typed ever makes us read a file or call an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async sendInvitation(letter) {
      try {
        await Promise.race([transport.sendMail(written(letter)), late()])
        return true
      } catch (error) {
        deps.log.warn({ err: error }, 'an invitation could not be mailed')
        return false
      }
    },
    [Symbol.dispose]: () => transport.close(),
  }
}

function written({ to, organization, role, link }: Letter) {
  return {
    to: { name: '', address: to },
    subject: `Invitation to ${organization}`,
    text: `You are invited to ${organization} on Intercept, as ${role}.

Accept within 7 days:
${link}

The link works once, for a sign-in with this e-mail address.
If you did not expect this, ignore it: nothing happens.
`,
  }
}

async function late(): Promise<never> {
  return await new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('the mail server took too long')), timeoutMs).unref()
  })
}
