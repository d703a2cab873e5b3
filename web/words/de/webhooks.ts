import type {
  secretWords as EnglishSecret,
  typeWords as EnglishTypes,
  webhookWords as English,
} from '../en/webhooks.ts'
import { count as number, many } from '../plural.ts'
import type { Translated } from '../translated.ts'

export const webhookWords: Translated<typeof English> = {
  title: 'Webhooks',
  lead: 'Alles, was geschieht, erfahren Ihre Empfänger als signiertes Ereignis.',
  sections: {
    label: 'Webhooks',
    endpoints: 'Endpunkte',
    deliveries: 'Zustellungen',
    types: 'Ereignistypen',
    secret: 'Geheimnis',
  },

  add: 'Endpunkt hinzufügen',
  endpoints: {
    columns: {
      url: 'Endpunkt',
      state: 'Zustand',
      deliveries: 'Zustellungen',
      types: 'Typen',
      success: 'Letzter Erfolg',
    },
    emptyTitle: 'Noch keine Endpunkte',
    emptyText:
      'Ein Endpunkt ist eine Adresse bei Ihnen, die jedes Ereignis als signierten POST bekommt. Noch kein Empfänger? Dieser gibt jede Zustellung aus und sagt, ob ihre Signatur stimmt:',
    receive: 'npx interceptd receive --port 9000',
    receiveName: 'Befehl, der einen Empfänger startet',
  },
  copySecret: (form) => `Kopieren: ${form}`,
  states: { active: 'Aktiv', held: 'Angehalten', disabled: 'Abgeschaltet' },
  allTypes: 'alle Typen',
  types: (count) => many(count, 'Typ', 'Typen'),
  nothingSent: 'noch nichts gesendet',
  delivered: (count) => `${number(count)} zugestellt`,
  books: (delivered, waiting, lost) =>
    [
      `${number(delivered)} zugestellt`,
      ...(waiting === 0 ? [] : [`${number(waiting)} warten`]),
      ...(lost === 0 ? [] : [`${number(lost)} tot oder übersprungen`]),
    ].join(', '),

  form: {
    addTitle: 'Endpunkt hinzufügen',
    editTitle: 'Endpunkt bearbeiten',
    url: 'Adresse',
    urlHint:
      'Bekommt für jedes Ereignis einen POST. Nur eine 2xx-Antwort binnen 15 Sekunden gilt als zugestellt.',
    description: 'Beschreibung',
    descriptionHint: 'Wofür er ist, etwa Abrechnung.',
    types: 'Ereignistypen',
    typesAll: 'Jeder Typ, auch spätere',
    typesSome: 'Nur diese Typen',
    typeSearch: 'Typen suchen',
    more: 'Header, Rate, Reihenfolge',
    headers: 'Eigene Header',
    headersHint:
      'Einer je Zeile, etwa X-Team: billing. Sie werden versiegelt und nie wieder gezeigt, nur ihre Namen.',
    headersKept: (names) =>
      `Jetzt gesetzt: ${names}. Leer lassen behält sie; was Sie eingeben, ersetzt alle.`,
    headersDrop: 'Keinen dieser Header mehr senden',
    headersWrong: (line) => `„${line}“ ist kein Header: Schreiben Sie Name: Wert.`,
    rate: 'Rate',
    rateHint: 'Höchstens so viele Zustellungen pro Sekunde. Leer heißt: so schnell er antwortet.',
    rateWrong: 'Eine ganze Zahl ab 1, oder leer lassen.',
    ordered: 'Der Reihe nach',
    orderedHint: 'Das nächste Ereignis wartet, bis das vorige zugestellt oder tot ist.',
    asymmetric: 'Auch Ed25519-Signatur',
    asymmetricHint:
      'Eine zweite Signatur (v1a), die Empfänger mit einem öffentlichen Schlüssel statt des Geheimnisses prüfen.',
    save: 'Speichern',
  },
  added: 'Endpunkt hinzugefügt',
  addedText: 'Senden Sie einen Ping, um zu sehen, ob er ihn prüfen kann.',
  saved: 'Endpunkt gespeichert',

  endpoint: {
    ping: 'Ping senden',
    tryNow: 'Jetzt versuchen',
    pinged: 'Ping gesendet',
    pingedText: 'Seine Zustellung erscheint unten.',
    pingWaits: 'Der Endpunkt wird jetzt versucht',
    pingWaitsText: 'Antwortet er mit 2xx, geht alles Wartende hinaus und dann ein Ping.',
    edit: 'Bearbeiten',
    more: 'Mehr',
    disable: 'Abschalten',
    disabled: 'Endpunkt abgeschaltet',
    disabledText:
      'Seine Ereignisse werden übersprungene Zustellungen, die sich wiederholen lassen.',
    enable: 'Einschalten',
    enabled: 'Endpunkt eingeschaltet',
    replayMissed: 'Alles Verpasste wiederholen',
    delete: 'Löschen',
    deleted: 'Endpunkt gelöscht',
    deleteTitle: 'Diesen Endpunkt löschen?',
    deleteText:
      'Er bekommt nichts mehr. Frühere Zustellungen bleiben sichtbar, bis sie zu alt sind. Das lässt sich nicht rückgängig machen.',
    deleteWaiting: (count) =>
      `${many(count, 'Zustellung wartet', 'Zustellungen warten')} und werden übersprungen.`,
    heldTitle: (failures, since) =>
      `Angehalten: ${many(failures, 'Fehlschlag', 'Fehlschläge')} in Folge seit ${since}.`,
    heldText: (waiting) =>
      waiting === 0
        ? 'Nichts wartet. Er wird von selbst wieder versucht und macht mit dem ersten Erfolg weiter.'
        : `${many(waiting, 'Zustellung wartet', 'Zustellungen warten')} und gehen hinaus, sobald er antwortet. Nichts geht verloren.`,
    nextProbe: 'Nächster Versuch',
    disabledTitle: 'Abgeschaltet',
    reasons: {
      by_hand: 'Jemand hat ihn abgeschaltet.',
      gone: 'Der Empfänger antwortete 410 Gone.',
      receiver_asked: 'Der Empfänger antwortete mit webhook-delivery: disable.',
      failing: '5 Tage lang gelang keine Zustellung.',
    },
    disabledNow:
      'Seine Ereignisse bleiben als übersprungene Zustellungen. Schalten Sie ihn ein, wenn der Empfänger bereit ist, und wiederholen Sie dann das Verpasste.',
    failing: (failures, since) =>
      `${many(failures, 'Fehlschlag', 'Fehlschläge')} in Folge seit ${since}. Nach 20 wird er angehalten: Nichts geht verloren, und er wird von selbst wieder versucht.`,
    books: 'Bisherige Zustellungen',
    booksLead: 'Jedes Ereignis für diesen Endpunkt ist in genau einem dieser Zustände.',
    settings: 'Einstellungen',
    latest: 'Neueste Zustellungen',
    all: 'Alle zeigen',
    facts: {
      id: 'Endpunkt-ID',
      url: 'Adresse',
      types: 'Ereignistypen',
      headers: 'Eigene Header',
      rate: 'Rate',
      order: 'Reihenfolge',
      publicKey: 'Öffentlicher Schlüssel',
      created: 'Hinzugefügt',
      success: 'Letzter Erfolg',
      attempt: 'Letzter Versuch',
    },
    noHeaders: 'keine',
    noRate: 'so schnell er antwortet',
    rate: (perSecond) => `${number(perSecond)} pro Sekunde`,
    ordered: 'eine nach der anderen',
    unordered: 'nebeneinander; sequence nennt die Reihenfolge',
  },

  figures: {
    outcomes: 'Zustellungen nach Ausgang',
    outcomesSampled: 'Die neuesten 20.000 Zustellungen nach Ausgang',
    latency: 'Zeit vom Ereignis bis zur Zustellung',
    backlog: 'Rückstand',
    waiting: 'wartend',
  },
  deliveryStates: {
    pending: 'Wartet',
    retrying: 'Neuer Versuch',
    held: 'Angehalten',
    delivered: 'Zugestellt',
    dead: 'Tot',
    skipped: 'Übersprungen',
    missed: 'Verpasst (tot oder übersprungen)',
  },
  deliveryStateHints: {
    pending: 'wird versucht',
    held: 'wartet auf den Endpunkt',
    delivered: 'mit 2xx beantwortet',
    dead: '10 Versuche gescheitert',
    skipped: 'Endpunkt abgeschaltet',
  },

  deliveries: {
    title: 'Zustellungen',
    what: 'Zustellungen',
    columns: {
      time: 'Zeit',
      type: 'Typ',
      endpoint: 'Endpunkt',
      state: 'Zustand',
      attempts: 'Versuche',
      answer: 'Letzte Antwort',
      next: 'Nächster Versuch',
    },
    filters: {
      endpoint: 'Endpunkt',
      state: 'Zustand',
      type: 'Typ',
      event: 'Ereignis',
      from: 'Von',
      to: 'Bis',
    },
    since: 'Zeit',
    sinceChoices: { hour: 'Letzte Stunde', day: 'Letzte 24 Stunden', week: 'Letzte 7 Tage' },
    emptyTitle: 'Noch nichts gesendet',
    emptyText:
      'Hier erscheinen Zustellungen aller Endpunkte. Senden Sie einen Ping, um die erste zu sehen.',
    toEndpoints: 'Zu den Endpunkten',
    replay: 'Wiederholen…',
    deletedEndpoint: 'gelöschter Endpunkt',
    notTried: 'noch nicht versucht',
  },

  delivery: {
    replay: 'Wiederholen',
    replayed: 'Wird jetzt erneut gesendet',
    replayedHeld: 'Wartet, weil der Endpunkt angehalten ist',
    replayedHeldText: 'Gesendet wird, sobald der Endpunkt wieder antwortet.',
    facts: {
      state: 'Zustand',
      id: 'Zustellungs-ID',
      event: 'Ereignis-ID',
      endpoint: 'Endpunkt',
      sequence: 'Folgenummer',
      created: 'Ereignis geschah',
      next: 'Nächster Versuch',
      ended: 'Beendet',
      skipped: 'Warum übersprungen',
    },
    skippedReasons: {
      endpoint_disabled: 'Der Endpunkt war abgeschaltet.',
      endpoint_deleted: 'Der Endpunkt wurde gelöscht.',
    },
    attempts: 'Versuche',
    noAttempts: 'Noch nicht versucht.',
    attempt: (index) => `Versuch ${index}`,
    probe: 'Probe des angehaltenen Endpunkts',
    answer: 'Antwort',
    answerCut: 'Antwort, erste 16 KiB',
    noAnswer: 'Kein Inhalt in der Antwort.',
    body: 'Inhalt',
    bodyLead: (size) => `Die gespeicherten Bytes, ${size}: bei jedem Versuch dieselben.`,
    bodyGone: 'Das Ereignis ist zu alt: Seine Bytes sind nicht mehr aufbewahrt.',
    verify: 'Selbst nachprüfen',
    verifyLead:
      'Gibt die webhook-signature des letzten Versuchs aus diesen Bytes aus. Vergleichen Sie sie mit dem Header, den Ihr Empfänger bekam.',
    verifyName: 'Befehl, der die Signatur berechnet',
    otherOfEvent: 'Zustellungen dieses Ereignisses an alle Endpunkte',
  },
  failures: {
    blocked: 'Adresse ist gesperrt',
    dns: 'Name nicht gefunden',
    connect: 'keine Verbindung',
    tls: 'TLS gescheitert',
    timeout: 'keine Antwort rechtzeitig',
    reset: 'Verbindung abgerissen',
    invalid: 'Antwort ist kein HTTP',
    aborted: 'beim Neustart abgebrochen',
    internal: 'hier gescheitert',
  },

  replay: {
    title: 'Zustellungen wiederholen',
    lead: 'Dieselben Bytes gehen mit derselben Ereignis-ID erneut hinaus, Empfänger können also Doppeltes erkennen.',
    what: 'Welche Zustellungen',
    missed: 'Alles Verpasste: tot und übersprungen',
    filtered: 'Alles, was die Filter dieser Seite finden',
    endpoint: 'Endpunkt',
    everyEndpoint: 'Alle Endpunkte',
    since: 'Seit',
    sinceChoices: {
      hour: 'Letzte Stunde',
      day: 'Letzte 24 Stunden',
      week: 'Letzte 7 Tage',
      '': 'Immer',
    },
    counting: 'Wird gezählt…',
    count: (count) =>
      count === 0
        ? 'Nichts zu wiederholen. Zustellungen abgeschalteter Endpunkte zählen erst, wenn der Endpunkt eingeschaltet ist.'
        : `${many(count, 'Zustellung wird', 'Zustellungen werden')} erneut gesendet.`,
    action: 'Wiederholen',
    started: 'Wiederholung gestartet',
  },
}

export const typeWords: Translated<typeof EnglishTypes> = {
  none: 'Keine Ereignistypen',
  list: 'Ereignistypen',
  sample: 'Beispiel',
  schema: 'Schema',
  schemaLead: 'JSON-Schema des ganzen Inhalts. Spätere Versionen fügen nur Felder hinzu.',
  send: 'Dieses Beispiel senden',
  sendTitle: 'Dieses Beispiel senden',
  sendLead:
    'Eine signierte Zustellung mit diesem Beispiel geht an einen Endpunkt, durch ihre ID als Test erkennbar.',
  sendTo: 'Endpunkt',
  sendAction: 'Beispiel senden',
  sampleWaits: 'Das Beispiel wartet, weil der Endpunkt angehalten ist',
  sent: 'Beispiel gesendet',
  sentText: 'Seine Zustellung erscheint unter Zustellungen.',
  noEndpoint: 'Kein Endpunkt ist aktiv oder angehalten. Fügen Sie zuerst einen hinzu.',
}

export const secretWords: Translated<typeof EnglishSecret> = {
  title: 'Signaturgeheimnis',
  lead: 'Damit wird jede Zustellung an jeden Endpunkt signiert. Empfänger prüfen, dass ein Ereignis von hier kommt und nicht verändert wurde.',
  notAllowed: 'Nur Inhaber und Admins sehen das Signaturgeheimnis.',
  show: 'Geheimnis zeigen',
  hide: 'Verbergen',
  copy: 'Kopieren',
  whole: 'Das ganze Geheimnis',
  wholeHint: 'Für intercept receive und den einfachen Header intercept-signature-256.',
  standard: 'Für Bibliotheken von Standard Webhooks und Svix',
  standardHint: 'Dasselbe ohne die ersten vier Zeichen: secret.slice(4).',
  since: 'Signiert seit',
  old: 'Alte Geheimnisse, die noch signieren',
  oldLead:
    'Jede Zustellung trägt eine Signatur je Geheimnis, Empfänger können also in Ruhe wechseln.',
  until: 'bis',
  endOld: 'Jetzt beenden',
  endOldTitle: 'Alte Geheimnisse beenden?',
  endOldText:
    'Empfänger, die nur ein altes Geheimnis kennen, lehnen ab jetzt jede Zustellung ab, bis sie das neue kennen. Abgelehnte Zustellungen werden wiederholt.',
  endOldDone: 'Alte Geheimnisse beendet',
  rotate: 'Rotieren',
  rotateTitle: 'Signaturgeheimnis rotieren',
  rotateLead:
    'Ein neues Geheimnis signiert ab jetzt. Das alte signiert daneben, während Empfänger wechseln.',
  overlap: 'Das alte Geheimnis signiert noch',
  overlaps: { day: '24 Stunden', none: 'gar nicht mehr (es ist bekannt geworden)' },
  overlapHint: 'So lange können Empfänger, die nur das alte kennen, weiter prüfen.',
  overlapNone:
    'Empfänger lehnen jede Zustellung ab, bis sie das neue Geheimnis kennen. Abgelehnte Zustellungen werden wiederholt.',
  rotated: 'Geheimnis rotiert',
  rotatedText: 'Geben Sie das neue an Ihre Empfänger.',
  verify: 'Zustellung prüfen',
  verifyLead:
    'Bewahren Sie das ganze Geheimnis in INTERCEPT_WEBHOOK_SECRET auf. Prüfen Sie den rohen Inhalt und erkennen Sie Doppeltes an webhook-id.',
  install: (language) => `Vorbereitung für ${language}`,
  code: (language) => `Code für ${language}`,
}
