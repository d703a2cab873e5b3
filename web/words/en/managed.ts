import { inLanguage } from '../language.ts'

const englishManagedWords = {
  tag: (label: string) => `managed by ${label}`,
  title: (label: string) => `Managed by the file ${label}`,
  text: 'Change it in the file and apply the file. Here it is locked, because the next apply would undo any other change.',
  drifted: 'It was changed elsewhere and has differed from its file since',
  whoMay: 'An administrator can take it over.',
  takeOver: 'Take over',
  takeOverName: (name: string) => `Take over ${name}`,
  takeOverTitle: (name: string) => `Take over ${name}?`,
  takeOverText: (label: string) =>
    `It can then be changed here. The next apply of ${label} sets it back to what the file says and locks it again, so change the file as well. The audit log shows who took it over.`,
  taken: (label: string) => `Taken over from ${label}`,
}

export const managedWords = inLanguage('managedWords', englishManagedWords)
