import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
}

/** A mail server on 127.0.0.1 that stores received mail; `url` can be used as SMTP_URL. */
export interface TestMail extends AsyncDisposable {
  readonly url: string
  readonly received: ReceivedMail[]
  /** Resolves with the first mail to this address, even if it has already arrived. */
  mailTo(address: string): Promise<ReceivedMail>
}

export async function mailForTests(): Promise<TestMail> {
  const received: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData: (stream, session, done) => {
      let raw = ''
      stream.on('data', (chunk: Buffer) => (raw += chunk.toString('utf8')))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw,
        })
        for (const wake of waiting) wake()
        done()
      })
    },
  })
  smtp.on('error', () => {})
  const server = smtp.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    mailTo: (address) =>
      new Promise((resolve) => {
        const look = (): void => {
          const mail = received.find(({ to }) => to.includes(address))
          if (!mail) return
          waiting.delete(look)
          resolve(mail)
        }
        waiting.add(look)
        look()
      }),
    [Symbol.asyncDispose]: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
}
