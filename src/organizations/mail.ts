const timeoutMs = 10_000

export interface InvitationMail {
  readonly to: string
  readonly organization: string
  readonly role: string
  readonly link: string
}

/** Sends mail through the operator's mail server. */
export interface Mailer extends Disposable {
  /**
   * Returns whether the server accepted the mail; a failure does not fail the invitation, whose link can be passed on
   * by hand.
   */
  sendInvitation(mail: InvitationMail): Promise<boolean>
}

/** Creates a mailer for a mail server (smtp://user:password@host:port); without a server, it sends nothing. */
export async function openMailer(deps: {
  smtpUrl: string | undefined
  baseUrl: string
  log: { warn(fields: object, text: string): void }
}): Promise<Mailer> {
  if (deps.smtpUrl === undefined) {
    return { sendInvitation: async () => false, [Symbol.dispose]() {} }
  }
  // Load nodemailer only if a mail server is configured.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(deps.smtpUrl, {
    from: `Intercept <intercept@${new URL(deps.baseUrl).hostname}>`,
    // Nothing in a message can make us read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async sendInvitation(mail) {
      try {
        await Promise.race([transport.sendMail(render(mail)), timeOut()])
        return true
      } catch (error) {
        deps.log.warn({ err: error }, 'an invitation could not be mailed')
        return false
      }
    },
    [Symbol.dispose]: () => transport.close(),
  }
}

function render({ to, organization, role, link }: InvitationMail) {
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

async function timeOut(): Promise<never> {
  return await new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('the mail server took too long')), timeoutMs).unref()
  })
}
