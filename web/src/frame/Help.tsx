import { frameWords } from '../../words/en.ts'
import { PlainDialog } from '../parts/Dialogs.tsx'
import { SwitchRow } from '../parts/Field.tsx'
import classes from './frame.module.css'
import { places } from './Navigation.tsx'
import { useSingleKeys } from './shortcuts.ts'

/** The help dialog. The navigation offers it in the same place on every page (WCAG 3.2.6). */
export function Help({ onClose }: { readonly onClose: () => void }) {
  const [on, write] = useSingleKeys()
  return (
    <PlainDialog open onClose={onClose} title={frameWords.helpTitle}>
      <ul className="stack-tight">
        <li>
          <a href="/docs">{frameWords.reference}</a>
        </li>
        <li>
          <a href="/guides">{frameWords.guidePages}</a>
        </li>
        <li>
          <a href="/problems">{frameWords.problemPages}</a>
        </li>
        <li>{frameWords.commandLine}</li>
      </ul>
      <table className={classes.shortcuts}>
        <tbody>
          {[pageKeys(), ...frameWords.keysTable].map(([keys, what]) => (
            <tr key={keys}>
              <td>
                <kbd>{keys}</kbd>
              </td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <SwitchRow
        label={frameWords.shortcuts}
        hint={frameWords.shortcutsHint}
        checked={on}
        onValue={write}
      />
    </PlainDialog>
  )
}

/** The keys that open pages after `g`, and the pages' names in the same order. */
function pageKeys(): readonly [keys: string, what: string] {
  const keys = places.map(({ key }) => key).join(' ')
  return [frameWords.pageKeys(keys), places.map(({ name }) => frameWords.pages[name]).join(', ')]
}
