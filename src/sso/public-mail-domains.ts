// These providers offer addresses under the top-level domains of many countries.
const families = /^(gmx|hotmail|outlook|rocketmail|yahoo|yandex|ymail)\.([a-z]{2}|com?\.[a-z]{2})$/

/** Whether anyone can get an address in a domain, so that no organization can own it. */
export function isPublicMailDomain(name: string): boolean {
  return named.has(name) || families.test(name)
}

const named: ReadonlySet<string> = new Set(
  `10minutemail.com 126.com 139.com 163.com 188.com 21cn.com aim.com alice.it aliyun.com aol.com aol.de arcor.de att.net
  bellsouth.net bigpond.com bk.ru bluewin.ch bol.com.br btinternet.com centrum.cz charter.net cock.li comcast.net
  cox.net daum.net disroot.org duck.com email.com email.cz fastmail.com fastmail.fm foxmail.com free.fr freemail.hu
  freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com guerrillamail.com hanmail.net hey.com
  hotmail.be hotmail.co.uk hotmail.com hotmail.com.br hotmail.de hotmail.es hotmail.fr hotmail.it hushmail.com
  icloud.com ig.com.br inbox.lv inbox.ru interia.pl juno.com kakao.com laposte.net libero.it list.ru live.be
  live.co.uk live.com live.de live.fr live.it live.nl live.se mac.com mail.com mail.de mail.ee mail.ru mailbox.org
  mailfence.com mailinator.com me.com msn.com mweb.co.za nate.com naver.com netzero.net o2.pl onet.pl optonline.net
  orange.fr outlook.at outlook.com outlook.com.br outlook.de outlook.es outlook.fr outlook.it outlook.jp pm.me
  poczta.onet.pl posteo.de proton.me protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com riseup.net
  rocketmail.com rogers.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.cn sina.com sohu.com
  startmail.com sympatico.ca t-online.de talktalk.net telenet.be telia.com tempmail.com terra.com.br tiscali.it
  tlen.pl trashmail.com tuta.com tuta.io tutanota.com tutanota.de ukr.net uol.com.br usa.net verizon.net vip.163.com
  virgilio.it virgin.net virginmedia.com vodafone.it volny.cz wanadoo.fr web.de windstream.net wp.pl ya.ru yahoo.ca yahoogroups.com ymail.com email.it abv.bg mail.bg mail.fr
  gmx.us gmx.info googlemail.de nifty.com simplelogin.com skynet.be swissmail.com tutamail.com xtra.co.nz
  yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru
  yeah.net yopmail.com zoho.com zohomail.com zohomail.eu`.split(/\s+/),
)
