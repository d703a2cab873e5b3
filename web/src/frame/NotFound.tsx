import { frameWords } from '../../words/en.ts'
import { ButtonLink } from '../parts/Button.tsx'
import { Card, PageHead } from '../parts/Surface.tsx'

/** Nothing here; says nothing about whether it exists elsewhere. */
export function NotFound() {
  return (
    <>
      <PageHead title={frameWords.notFoundTitle} />
      <Card>
        <div className="stack">
          <p>{frameWords.notFoundText}</p>
          <div>
            <ButtonLink to="/">{frameWords.toOverview}</ButtonLink>
          </div>
        </div>
      </Card>
    </>
  )
}

/** A page whose code threw, or whose file is gone after an upgrade. */
export function PageFailed({ error }: { readonly error: unknown }) {
  const chunkGone = error instanceof TypeError && /import|module/i.test(error.message)
  return (
    <Card title={frameWords.failedTitle}>
      <div className="stack">
        <p className="break">
          {chunkGone ? frameWords.upgraded : error instanceof Error ? error.message : ''}
        </p>
        <div>
          <button type="button" onClick={() => window.location.reload()}>
            {frameWords.reload}
          </button>
        </div>
      </div>
    </Card>
  )
}
