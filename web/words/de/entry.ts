import type { entryWords as English } from '../en/entry.ts'
import type { Translated } from '../translated.ts'
import { words } from './common.ts'

export const entryWords: Translated<typeof English> = {
  signIn: {
    title: 'Anmelden',
    lead: 'Beim Dashboard dieses Intercept.',
    with: (provider) => `Weiter mit ${provider}`,
    providers: { github: 'GitHub', google: 'Google' },
    or: 'oder',
    email: 'Firmen-E-Mail',
    emailHint: 'Führt zur eigenen Anmeldung Ihrer Firma.',
    sso: 'Weiter mit Firmenanmeldung',
    none: 'Keine Anmeldung ist eingerichtet',
    noneText:
      'Ein Betreiber setzt GITHUB_CLIENT_ID und GITHUB_CLIENT_SECRET oder GOOGLE_CLIENT_ID und GOOGLE_CLIENT_SECRET. Bis dahin macht die Kommandozeile einen Link, der Sie einmal anmeldet:',
    problem: 'Sie sind nicht angemeldet',
    insecure: 'Ihr Browser wird die Anmeldung nicht behalten',
    insecureText: (here, base) =>
      `Intercept ist unter ${here} geöffnet; Browser behalten das Anmelde-Cookie nur über https oder auf localhost. Öffnen Sie stattdessen ${base}.`,
  },
  setup: {
    title: 'Intercept einrichten',
    checking: 'Der Link wird geprüft…',
    used: 'Dieser Link wurde benutzt oder ist älter als 1 Stunde',
    usedText: 'Geben Sie auf dem Server einen neuen aus:',
    alreadySignedIn: 'Oder melden Sie sich an, falls es den ersten Inhaber schon gibt.',
    step: (number, of) => `Schritt ${number} von ${of}`,
    you: 'Sie',
    youLead: 'Der erste Inhaber. Sie sind sofort angemeldet; niemand sendet eine Mail.',
    name: 'Name',
    email: 'E-Mail',
    next: 'Weiter',
    back: 'Zurück',
    organization: 'Organisation',
    organizationLead: 'Die Organisation. Ihr gehören Schlüssel, Ziele und Mitglieder.',
    organizationName: 'Name der Organisation',
    slug: 'Kurzname',
    slugHint: 'Teil von Adressen. Kleinbuchstaben, Ziffern und Bindestriche.',
    create: 'Organisation anlegen',
    takenTitle: (slug) => `Es gibt schon eine Organisation ${slug}`,
    takenText:
      'Jemand hat sie auf der Kommandozeile angelegt. Wählen Sie einen anderen Kurznamen, oder werden Sie Inhaber dieser, mit ihren Zielen und Schlüsseln.',
    own: (slug) => `Inhaber von ${slug} werden`,
    target: 'Was möchten Sie schützen?',
    targetLead: 'Die Adresse einer API. Programme rufen sie über Intercept auf.',
    addTarget: 'Ziel hinzufügen',
    key: 'Schlüssel ausstellen',
    keyLead:
      'Er wird einmal gezeigt. Führen Sie die Zeile unten aus und sehen Sie den Aufruf ankommen.',
    issue: 'Schlüssel ausstellen',
    keyName: 'erster-schluessel',
    issueAnother: 'Weiteren Schlüssel ausstellen',
    keyWasShown:
      'Ihr Schlüssel wurde ausgestellt und gezeigt, bevor diese Seite neu geladen wurde. Noch einmal zeigen geht nicht: Benutzen Sie den kopierten oder stellen Sie einen weiteren aus.',
    reaching: 'Der Upstream wird gefragt…',
    notReached: 'Das Ziel ist hinzugefügt, aber sein Upstream antwortete nicht',
    otherUpstream: 'Andere Adresse',
    otherUpstreamHint: 'Leer lassen fragt dieselbe Adresse noch einmal.',
    testAgain: 'Erneut prüfen',
    goOnAnyway: 'Trotzdem weiter',
    skip: 'Überspringen',
    finish: 'Zur Übersicht',
    cookieTitle: 'Ihr Browser hat das Anmelde-Cookie nicht behalten',
    cookieText:
      'Browser behalten es nur über https oder auf localhost, Safari nicht über einfaches http. Öffnen Sie Intercept dort und benutzen Sie dann den Anmeldelink der Kommandozeile.',
  },
  welcome: {
    title: 'Ihre Organisationen',
    lead: (email) => `Angemeldet als ${email}`,
    open: 'Öffnen',
    role: (role) => words.roles[role],
    invitations: 'Einladungen',
    accept: 'Annehmen',
    invitedAs: (role) => `Sie sind als ${words.roles[role]} eingeladen.`,
    nobody: 'Noch hat Sie niemand eingeladen',
    nobodyText: (email) =>
      `Bitten Sie einen Administrator, ${email} einzuladen, oder auf dem Server:`,
    joined: (organization) => `Sie sind Mitglied von ${organization}`,
    create: 'Neue Organisation',
    createTitle: 'Organisation anlegen',
    createAction: 'Organisation anlegen',
  },
  invitation: {
    title: (organization) => `${organization} beitreten`,
    lead: (email, role) => `${email} ist als ${words.roles[role]} eingeladen.`,
    accept: 'Einladung annehmen',
    signIn: (email) =>
      `Melden Sie sich mit einem Konto an, dessen bestätigte E-Mail ${email} ist. Dann ist die Einladung angenommen.`,
    company: 'Mit Ihrer Firma anmelden',
    noWayTitle: 'Hier ist noch keine Anmeldung eingerichtet',
    noWay: (email) =>
      `Die Einladung für ${email} ist in Ordnung, aber dieser Server bietet Ihnen keine Anmeldung. Senden Sie dies an die Person, die Sie eingeladen hat; der Link bleibt solange gültig.`,
    ask: (organization, email, role) =>
      `Ich kann die Einladung zu ${organization} nicht annehmen: Es ist keine Anmeldung eingerichtet. Bitte verbindet unseren Identitätsanbieter (SSO), richtet die Anmeldung über GitHub oder Google ein, oder lasst den Betreiber des Servers ausführen:\nnpx interceptd member add ${organization} ${email} --role ${role}\nnpx interceptd sign-in-link ${email}`,
    gone: 'Diese Einladung ist nicht benutzbar',
    goneText: 'Sie wurde benutzt, zurückgezogen oder ist zu alt. Bitten Sie um eine neue.',
    signedInAs: (email) => `Sie sind als ${email} angemeldet.`,
    other: 'Als jemand anderes anmelden',
  },
}
