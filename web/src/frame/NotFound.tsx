import { useEffect } from 'react'
import { frameWords } from '../../words/en.ts'
import { Button, ButtonLink } from '../parts/Button.tsx'
import { Card, PageHead } from '../parts/Surface.tsx'
import { isFileGone, reloadOnceAfterUpgrade } from '../parts/upgrade.ts'

/** Says that the page was not found, without revealing whether it exists in another organization. */
export function NotFound() {
  return (
    <>
      <PageHead title={frameWords.notFoundTitle} />
      <Card>
        <div className="stack">
          <p>{frameWords.notFoundText}</p>
          <p>
            <code className="break">{window.location.pathname}</code>
          </p>
          <div className="row">
            <ButtonLink look="primary" to="/">
              {frameWords.toOverview}
            </ButtonLink>
            <Button onClick={() => window.history.back()}>{frameWords.goBack}</Button>
          </div>
        </div>
      </Card>
    </>
  )
}

/** Shown instead of a page if its code threw an error, or if one of its files could not be loaded. */
export function PageFailed({ error }: { readonly error: unknown }) {
  useEffect(() => void reloadOnceAfterUpgrade(error), [error])
  return (
    <Card title={frameWords.failedTitle}>
      <div className="stack">
        <p className="break">
          {isFileGone(error) ? frameWords.upgraded : error instanceof Error ? error.message : ''}
        </p>
        <div>
          <Button onClick={() => window.location.reload()}>{frameWords.reload}</Button>
        </div>
      </div>
    </Card>
  )
}
