import type { managedWords as English } from '../en/managed.ts'
import type { Translated } from '../translated.ts'

export const managedWords: Translated<typeof English> = {
  tag: (label) => `verwaltet von ${label}`,
  title: (label) => `Wird von der Datei ${label} verwaltet`,
  text: 'Ändern Sie es in der Datei und wenden Sie die Datei an. Hier ist es gesperrt, weil die nächste Anwendung jede andere Änderung rückgängig machen würde.',
  drifted: 'Es wurde an anderer Stelle geändert und weicht von der Datei ab seit',
  whoMay: 'Ein Administrator kann es übernehmen.',
  takeOver: 'Übernehmen',
  takeOverName: (name) => `${name} übernehmen`,
  takeOverTitle: (name) => `${name} übernehmen?`,
  takeOverText: (label) =>
    `Danach lässt es sich hier ändern. Die nächste Anwendung von ${label} setzt es auf den Stand der Datei zurück und sperrt es wieder; ändern Sie deshalb auch die Datei. Das Audit-Log zeigt, wer es übernommen hat.`,
  taken: (label) => `Von ${label} übernommen`,
}
