/**
 * Pages in the encodings that old pages have. The bytes were made with Python's codecs, so that no decoder of ours is
 * tested with itself.
 */
import { type Route, send } from "./server.ts";

interface Text {
  readonly title: string;
  readonly paragraphs: readonly [string, string];
}

const texts = {
  de: {
    title: "Über größere Äpfel",
    paragraphs: [
      "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, und niemand weiß, warum. Die Straße nach Süden ist seit März gesperrt, weil der Fluß über die Ufer trat.",
      "Für die Reise nach Köln braucht man Geduld, ein Brötchen und gute Schuhe; früher fuhr hier täglich ein Zug, heute nur noch sonntags.",
    ],
  },
  quotes: {
    title: "Prices in € and “quotes”",
    paragraphs: [
      "The “smart” quotes, the dash – this one – and the euro sign, as in 12 €, are in the range that only Windows fills, and a page that calls itself Latin-1 has them all the same.",
      "Authors who wrote such pages never noticed, because every browser reads them as they were meant, and so should everybody else who reads the web…",
    ],
  },
  ja: {
    title: "日本語の文書",
    paragraphs: [
      "これは日本語で書かれた文書です。文字コードを正しく判定できない読み手には、意味のない記号の列にしか見えません。",
      "昔のウェブページの多くは、今でもこの文字コードで公開されています。読み手はヘッダーや本文の宣言を確かめ、それがなければ内容から推測します。",
    ],
  },
  zh: {
    title: "中文文档",
    paragraphs: [
      "这是一份用中文写成的文档。如果读取者不能正确判断它的编码，看到的就只是一串没有意义的符号。",
      "许多旧的网页至今仍然使用这种编码发布，读取者应当先检查响应头，再检查页面里的声明，最后才根据内容来猜测。",
    ],
  },
  ru: {
    title: "Страница на русском языке",
    paragraphs: [
      "Эта страница написана по-русски и сохранена в старой кодировке, которую до сих пор используют многие сайты и почтовые программы.",
      "Если кодировка не указана, её можно определить по частоте букв, потому что в русском тексте чаще всего встречаются буквы о, е и а.",
    ],
  },
} satisfies Record<string, Text>;

/** One page: its text, the label in its header, and its bytes in base64. */
interface EncodedPage {
  readonly name: string;
  readonly text: keyof typeof texts;
  /** Of the header; null without one. */
  readonly charset: string | null;
  readonly base64: string;
}

const pages: readonly EncodedPage[] = [
  {
    name: "latin1-header",
    text: "de",
    charset: "iso-8859-1",
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPtxiZXIgZ3L232VyZSDEcGZlbDwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7cYmVyIGdy9t9lcmUgxHBmZWw8L2gxPjxwPlp39mxmIEJveGvkbXBmZXIgamFnZW4gVmlrdG9yIHF1ZXIg/GJlciBkZW4gZ3Jv32VuIFN5bHRlciBEZWljaCwgdW5kIG5pZW1hbmQgd2Vp3ywgd2FydW0uIERpZSBTdHJh32UgbmFjaCBT/GRlbiBpc3Qgc2VpdCBN5HJ6IGdlc3BlcnJ0LCB3ZWlsIGRlciBGbHXfIPxiZXIgZGllIFVmZXIgdHJhdC48L3A+PHA+RvxyIGRpZSBSZWlzZSBuYWNoIEv2bG4gYnJhdWNodCBtYW4gR2VkdWxkLCBlaW4gQnL2dGNoZW4gdW5kIGd1dGUgU2NodWhlOyBmcvxoZXIgZnVociBoaWVyIHTkZ2xpY2ggZWluIFp1ZywgaGV1dGUgbnVyIG5vY2ggc29ubnRhZ3MuPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "latin1-meta",
    text: "de",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgY2hhcnNldD0iaXNvLTg4NTktMSI+PHRpdGxlPtxiZXIgZ3L232VyZSDEcGZlbDwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7cYmVyIGdy9t9lcmUgxHBmZWw8L2gxPjxwPlp39mxmIEJveGvkbXBmZXIgamFnZW4gVmlrdG9yIHF1ZXIg/GJlciBkZW4gZ3Jv32VuIFN5bHRlciBEZWljaCwgdW5kIG5pZW1hbmQgd2Vp3ywgd2FydW0uIERpZSBTdHJh32UgbmFjaCBT/GRlbiBpc3Qgc2VpdCBN5HJ6IGdlc3BlcnJ0LCB3ZWlsIGRlciBGbHXfIPxiZXIgZGllIFVmZXIgdHJhdC48L3A+PHA+RvxyIGRpZSBSZWlzZSBuYWNoIEv2bG4gYnJhdWNodCBtYW4gR2VkdWxkLCBlaW4gQnL2dGNoZW4gdW5kIGd1dGUgU2NodWhlOyBmcvxoZXIgZnVociBoaWVyIHTkZ2xpY2ggZWluIFp1ZywgaGV1dGUgbnVyIG5vY2ggc29ubnRhZ3MuPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "windows-1252-as-latin1",
    text: "quotes",
    charset: "iso-8859-1",
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPlByaWNlcyBpbiCAIGFuZCCTcXVvdGVzlDwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT5QcmljZXMgaW4ggCBhbmQgk3F1b3Rlc5Q8L2gxPjxwPlRoZSCTc21hcnSUIHF1b3RlcywgdGhlIGRhc2ggliB0aGlzIG9uZSCWIGFuZCB0aGUgZXVybyBzaWduLCBhcyBpbiAxMiCALCBhcmUgaW4gdGhlIHJhbmdlIHRoYXQgb25seSBXaW5kb3dzIGZpbGxzLCBhbmQgYSBwYWdlIHRoYXQgY2FsbHMgaXRzZWxmIExhdGluLTEgaGFzIHRoZW0gYWxsIHRoZSBzYW1lLjwvcD48cD5BdXRob3JzIHdobyB3cm90ZSBzdWNoIHBhZ2VzIG5ldmVyIG5vdGljZWQsIGJlY2F1c2UgZXZlcnkgYnJvd3NlciByZWFkcyB0aGVtIGFzIHRoZXkgd2VyZSBtZWFudCwgYW5kIHNvIHNob3VsZCBldmVyeWJvZHkgZWxzZSB3aG8gcmVhZHMgdGhlIHdlYoU8L3A+PC9hcnRpY2xlPjwvYm9keT48L2h0bWw+",
  },
  {
    name: "windows-1252-meta",
    text: "quotes",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgY2hhcnNldD0id2luZG93cy0xMjUyIj48dGl0bGU+UHJpY2VzIGluIIAgYW5kIJNxdW90ZXOUPC90aXRsZT48L2hlYWQ+PGJvZHk+PGFydGljbGU+PGgxPlByaWNlcyBpbiCAIGFuZCCTcXVvdGVzlDwvaDE+PHA+VGhlIJNzbWFydJQgcXVvdGVzLCB0aGUgZGFzaCCWIHRoaXMgb25lIJYgYW5kIHRoZSBldXJvIHNpZ24sIGFzIGluIDEyIIAsIGFyZSBpbiB0aGUgcmFuZ2UgdGhhdCBvbmx5IFdpbmRvd3MgZmlsbHMsIGFuZCBhIHBhZ2UgdGhhdCBjYWxscyBpdHNlbGYgTGF0aW4tMSBoYXMgdGhlbSBhbGwgdGhlIHNhbWUuPC9wPjxwPkF1dGhvcnMgd2hvIHdyb3RlIHN1Y2ggcGFnZXMgbmV2ZXIgbm90aWNlZCwgYmVjYXVzZSBldmVyeSBicm93c2VyIHJlYWRzIHRoZW0gYXMgdGhleSB3ZXJlIG1lYW50LCBhbmQgc28gc2hvdWxkIGV2ZXJ5Ym9keSBlbHNlIHdobyByZWFkcyB0aGUgd2VihTwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "windows-1252-undeclared",
    text: "de",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPtxiZXIgZ3L232VyZSDEcGZlbDwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7cYmVyIGdy9t9lcmUgxHBmZWw8L2gxPjxwPlp39mxmIEJveGvkbXBmZXIgamFnZW4gVmlrdG9yIHF1ZXIg/GJlciBkZW4gZ3Jv32VuIFN5bHRlciBEZWljaCwgdW5kIG5pZW1hbmQgd2Vp3ywgd2FydW0uIERpZSBTdHJh32UgbmFjaCBT/GRlbiBpc3Qgc2VpdCBN5HJ6IGdlc3BlcnJ0LCB3ZWlsIGRlciBGbHXfIPxiZXIgZGllIFVmZXIgdHJhdC48L3A+PHA+RvxyIGRpZSBSZWlzZSBuYWNoIEv2bG4gYnJhdWNodCBtYW4gR2VkdWxkLCBlaW4gQnL2dGNoZW4gdW5kIGd1dGUgU2NodWhlOyBmcvxoZXIgZnVociBoaWVyIHTkZ2xpY2ggZWluIFp1ZywgaGV1dGUgbnVyIG5vY2ggc29ubnRhZ3MuPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "shift-jis-header",
    text: "ja",
    charset: "Shift_JIS",
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPpP6lnuM6oLMlbaPkTwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT6T+pZ7jOqCzJW2j5E8L2gxPjxwPoKxguqCzZP6lnuM6oLFj5GCqYLqgr2Vto+RgsWCt4FClbaOmoNSgVuDaILwkLOCtYKtlLuS6ILFgquCyIKik8eC3Y7ogsmCzYFBiNOWoYLMgsiCootMjYaCzJfxgsmCtYKpjKmCpoLcgrmC8YFCPC9wPjxwPpDMgsyDRYNGg3WDeYFbg1eCzJG9gq2CzYFBjaGCxYLggrGCzJW2jpqDUoFbg2iCxYz2ikqCs4LqgsSCooLcgreBQpPHgt2O6ILNg3eDYoNfgVuC4pZ7lbaCzJDpjL6C8IptgqmC34FBgruC6oKqgsiCr4Lqgs6T4JdlgqmC55CEkaqCtYLcgreBQjwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "shift-jis-meta",
    text: "ja",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgaHR0cC1lcXVpdj0iQ29udGVudC1UeXBlIiBjb250ZW50PSJ0ZXh0L2h0bWw7IGNoYXJzZXQ9U2hpZnRfSklTIj48dGl0bGU+k/qWe4zqgsyVto+RPC90aXRsZT48L2hlYWQ+PGJvZHk+PGFydGljbGU+PGgxPpP6lnuM6oLMlbaPkTwvaDE+PHA+grGC6oLNk/qWe4zqgsWPkYKpguqCvZW2j5GCxYK3gUKVto6ag1KBW4NogvCQs4K1gq2Uu5LogsWCq4LIgqKTx4LdjuiCyYLNgUGI05ahgsyCyIKii0yNhoLMl/GCyYK1gqmMqYKmgtyCuYLxgUI8L3A+PHA+kMyCzINFg0aDdYN5gVuDV4LMkb2CrYLNgUGNoYLFguCCsYLMlbaOmoNSgVuDaILFjPaKSoKzguqCxIKigtyCt4FCk8eC3Y7ogs2Dd4Nig1+BW4LilnuVtoLMkOmMvoLwim2CqYLfgUGCu4LqgqqCyIKvguqCzpPgl2WCqYLnkISRqoK1gtyCt4FCPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "shift-jis-undeclared",
    text: "ja",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPpP6lnuM6oLMlbaPkTwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT6T+pZ7jOqCzJW2j5E8L2gxPjxwPoKxguqCzZP6lnuM6oLFj5GCqYLqgr2Vto+RgsWCt4FClbaOmoNSgVuDaILwkLOCtYKtlLuS6ILFgquCyIKik8eC3Y7ogsmCzYFBiNOWoYLMgsiCootMjYaCzJfxgsmCtYKpjKmCpoLcgrmC8YFCPC9wPjxwPpDMgsyDRYNGg3WDeYFbg1eCzJG9gq2CzYFBjaGCxYLggrGCzJW2jpqDUoFbg2iCxYz2ikqCs4LqgsSCooLcgreBQpPHgt2O6ILNg3eDYoNfgVuC4pZ7lbaCzJDpjL6C8IptgqmC34FBgruC6oKqgsiCr4Lqgs6T4JdlgqmC55CEkaqCtYLcgreBQjwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "euc-jp-meta",
    text: "ja",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgY2hhcnNldD0iRVVDLUpQIj48dGl0bGU+xvzL3LjspM7KuL3xPC90aXRsZT48L2hlYWQ+PGJvZHk+PGFydGljbGU+PGgxPsb8y9y47KTOyri98TwvaDE+PHA+pLOk7KTPxvzL3LjspMe98aSrpOykv8q4vfGkx6S5oaPKuLv6pbOhvKXJpPLAtaS3pK/IvcTqpMekraTKpKTGyaTfvOqky6TPoaKw1cyjpM6kyqSkta255qTOzvOky6S3pKu4q6SopN6ku6TzoaM8L3A+PHA+wM6kzqWmpael1qXaobyluKTOwr+kr6TPoaK6o6THpOKks6TOyri7+qWzobylyaTHuPizq6S1pOykxqSkpN6kuaGjxsmk37zqpM+l2KXDpcChvKTky9zKuKTOwOu4wKTys86kq6ThoaKkvaTspKykyqSxpOyk0Mbizcakq6Tpv+TCrKS3pN6kuaGjPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "gb18030-header",
    text: "zh",
    charset: "gb18030",
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPtbQzsTOxLW1PC90aXRsZT48L2hlYWQ+PGJvZHk+PGFydGljbGU+PGgxPtbQzsTOxLW1PC9oMT48cD7V4srH0ru33dPD1tDOxNC0s8m1xM7EtbWho8jnufu2wcih1d+yu8Tc1f3It8XQts/L/LXEseDC66Osv7S1vbXEvs3Wu8rH0ru0rsO709DS4tLltcS3+7rFoaM8L3A+PHA+0O224L7JtcTN+NKz1sG98cjUyLvKudPD1eLW1rHgwuu3orK8o6y2wcih1d/TprWxz8i87LLpz+zTps23o6zU2bzssunSs8PmwO+1xMn5w/ejrNfuuvOyxbj5vt3E2sjdwLSywrLioaM8L3A+PC9hcnRpY2xlPjwvYm9keT48L2h0bWw+",
  },
  {
    name: "gb2312-meta",
    text: "zh",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgaHR0cC1lcXVpdj0iQ29udGVudC1UeXBlIiBjb250ZW50PSJ0ZXh0L2h0bWw7IGNoYXJzZXQ9Z2IyMzEyIj48dGl0bGU+1tDOxM7EtbU8L3RpdGxlPjwvaGVhZD48Ym9keT48YXJ0aWNsZT48aDE+1tDOxM7EtbU8L2gxPjxwPtXiysfSu7fd08PW0M7E0LSzybXEzsS1taGjyOe5+7bByKHV37K7xNzV/ci3xdC2z8v8tcSx4MLro6y/tLW9tcS+zda7ysfSu7Suw7vT0NLi0uW1xLf7usWhozwvcD48cD7Q7bbgvsm1xM340rPWwb3xyNTIu8q508PV4tbWseDC67eisryjrLbByKHV39OmtbHPyLzssunP7NOmzbejrNTZvOyy6dKzw+bA77XEyfnD96Os1+6687LFuPm+3cTayN3AtLLCsuKhozwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "windows-1251-meta",
    text: "ru",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgY2hhcnNldD0id2luZG93cy0xMjUxIj48dGl0bGU+0fLw4O3o9uAg7eAg8PPx8eru7CD/5/vq5TwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7R8vDg7ej24CDt4CDw8/Hx6u7sIP/n++rlPC9oMT48cD7d8uAg8fLw4O3o9uAg7eDv6PHg7eAg7+4t8PPx8eroIOgg8e718ODt5e3gIOIg8fLg8O7pIOru5Ojw7uLq5Swg6u7y7vDz/iDk7iDx6PUg7+7wIOjx7+7r/Ofz/vIg7O3u4+jlIPHg6fL7IOgg7+738u7i++Ug7/Du4/Dg7Oz7LjwvcD48cD7F8evoIOru5Ojw7uLq4CDt5SDz6uDn4O3gLCDluCDs7ubt7iDu7/Dl5OXr6PL8IO/uIPfg8fLu8uUg4fPq4iwg7+7y7uzzIPfy7iDiIPDz8fHq7uwg8uXq8fLlIPfg+eUg4vHl4+4g4vHy8OX34P7y8f8g4fPq4vsg7iwg5SDoIOAuPC9wPjwvYXJ0aWNsZT48L2JvZHk+PC9odG1sPg==",
  },
  {
    name: "windows-1251-undeclared",
    text: "ru",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPtHy8ODt6PbgIO3gIPDz8fHq7uwg/+f76uU8L3RpdGxlPjwvaGVhZD48Ym9keT48YXJ0aWNsZT48aDE+0fLw4O3o9uAg7eAg8PPx8eru7CD/5/vq5TwvaDE+PHA+3fLgIPHy8ODt6PbgIO3g7+jx4O3gIO/uLfDz8fHq6CDoIPHu9fDg7eXt4CDiIPHy4PDu6SDq7uTo8O7i6uUsIOru8u7w8/4g5O4g8ej1IO/u8CDo8e/u6/zn8/7yIOzt7uPo5SDx4Ony+yDoIO/u9/Lu4vvlIO/w7uPw4Ozs+y48L3A+PHA+xfHr6CDq7uTo8O7i6uAg7eUg8+rg5+Dt4Cwg5bgg7O7m7e4g7u/w5eTl6+jy/CDv7iD34PHy7vLlIOHz6uIsIO/u8u7s8yD38u4g4iDw8/Hx6u7sIPLl6vHy5SD34PnlIOLx5ePuIOLx8vDl9+D+8vH/IOHz6uL7IO4sIOUg6CDgLjwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "koi8-r-header",
    text: "ru",
    charset: "koi8-r",
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPvPU0sHOycPBIM7BINLV09PLz80g0drZy8U8L3RpdGxlPjwvaGVhZD48Ym9keT48YXJ0aWNsZT48aDE+89TSwc7Jw8EgzsEg0tXT08vPzSDR2tnLxTwvaDE+PHA+/NTBINPU0sHOycPBIM7B0MnTwc7BINDPLdLV09PLySDJINPPyNLBzsXOwSDXINPUwdLPyiDLz8TJ0s/Xy8UsIMvP1M/S1cAgxM8g08nIINDP0iDJ09DPzNja1cDUIM3Oz8fJxSDTwcrU2SDJINDP3tTP19nFINDSz8fSwc3N2S48L3A+PHA+5dPMySDLz8TJ0s/Xy8EgzsUg1cvB2sHOwSwgxaMgzc/Wzs8gz9DSxcTFzMnU2CDQzyDewdPUz9TFIMLVy9csINDP1M/N1SDe1M8g1yDS1dPTy8/NINTFy9PUxSDewd3FINfTxcfPINfT1NLF3sHA1NPRIMLVy9fZIM8sIMUgySDBLjwvcD48L2FydGljbGU+PC9ib2R5PjwvaHRtbD4=",
  },
  {
    name: "utf-16le-bom",
    text: "de",
    charset: null,
    base64:
      "//48AGgAdABtAGwAPgA8AGgAZQBhAGQAPgA8AHQAaQB0AGwAZQA+ANwAYgBlAHIAIABnAHIA9gDfAGUAcgBlACAAxABwAGYAZQBsADwALwB0AGkAdABsAGUAPgA8AC8AaABlAGEAZAA+ADwAYgBvAGQAeQA+ADwAYQByAHQAaQBjAGwAZQA+ADwAaAAxAD4A3ABiAGUAcgAgAGcAcgD2AN8AZQByAGUAIADEAHAAZgBlAGwAPAAvAGgAMQA+ADwAcAA+AFoAdwD2AGwAZgAgAEIAbwB4AGsA5ABtAHAAZgBlAHIAIABqAGEAZwBlAG4AIABWAGkAawB0AG8AcgAgAHEAdQBlAHIAIAD8AGIAZQByACAAZABlAG4AIABnAHIAbwDfAGUAbgAgAFMAeQBsAHQAZQByACAARABlAGkAYwBoACwAIAB1AG4AZAAgAG4AaQBlAG0AYQBuAGQAIAB3AGUAaQDfACwAIAB3AGEAcgB1AG0ALgAgAEQAaQBlACAAUwB0AHIAYQDfAGUAIABuAGEAYwBoACAAUwD8AGQAZQBuACAAaQBzAHQAIABzAGUAaQB0ACAATQDkAHIAegAgAGcAZQBzAHAAZQByAHIAdAAsACAAdwBlAGkAbAAgAGQAZQByACAARgBsAHUA3wAgAPwAYgBlAHIAIABkAGkAZQAgAFUAZgBlAHIAIAB0AHIAYQB0AC4APAAvAHAAPgA8AHAAPgBGAPwAcgAgAGQAaQBlACAAUgBlAGkAcwBlACAAbgBhAGMAaAAgAEsA9gBsAG4AIABiAHIAYQB1AGMAaAB0ACAAbQBhAG4AIABHAGUAZAB1AGwAZAAsACAAZQBpAG4AIABCAHIA9gB0AGMAaABlAG4AIAB1AG4AZAAgAGcAdQB0AGUAIABTAGMAaAB1AGgAZQA7ACAAZgByAPwAaABlAHIAIABmAHUAaAByACAAaABpAGUAcgAgAHQA5ABnAGwAaQBjAGgAIABlAGkAbgAgAFoAdQBnACwAIABoAGUAdQB0AGUAIABuAHUAcgAgAG4AbwBjAGgAIABzAG8AbgBuAHQAYQBnAHMALgA8AC8AcAA+ADwALwBhAHIAdABpAGMAbABlAD4APAAvAGIAbwBkAHkAPgA8AC8AaAB0AG0AbAA+AA==",
  },
  {
    name: "utf-16be-bom",
    text: "ja",
    charset: null,
    base64:
      "/v8APABoAHQAbQBsAD4APABoAGUAYQBkAD4APAB0AGkAdABsAGUAPmXlZyyKnjBuZYdm+AA8AC8AdABpAHQAbABlAD4APAAvAGgAZQBhAGQAPgA8AGIAbwBkAHkAPgA8AGEAcgB0AGkAYwBsAGUAPgA8AGgAMQA+ZeVnLIqeMG5lh2b4ADwALwBoADEAPgA8AHAAPjBTMIwwb2XlZyyKnjBnZvgwSzCMMF9lh2b4MGcwWTACZYdbVzCzMPwwyTCSa2MwVzBPUiRbmjBnME0wajBEiq0wf2JLMGswbzABYQ9UczBuMGowRIoYU/cwblIXMGswVzBLiYswSDB+MFswkzACADwALwBwAD4APABwAD5mFDBuMKYwpzDWMNow/DC4MG5ZGjBPMG8wAU7KMGcwgjBTMG5lh1tXMLMw/DDJMGdRbJWLMFUwjDBmMEQwfjBZMAKKrTB/YkswbzDYMMMwwDD8MIRnLGWHMG5bo4oAMJJ4ujBLMIEwATBdMIwwTDBqMFEwjDBwUYVbuTBLMIljqG4sMFcwfjBZMAIAPAAvAHAAPgA8AC8AYQByAHQAaQBjAGwAZQA+ADwALwBiAG8AZAB5AD4APAAvAGgAdABtAGwAPg==",
  },
  {
    name: "utf-8-bom",
    text: "zh",
    charset: null,
    base64:
      "77u/PGh0bWw+PGhlYWQ+PHRpdGxlPuS4reaWh+aWh+ahozwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7kuK3mlofmlofmoaM8L2gxPjxwPui/meaYr+S4gOS7veeUqOS4reaWh+WGmeaIkOeahOaWh+aho+OAguWmguaenOivu+WPluiAheS4jeiDveato+ehruWIpOaWreWug+eahOe8luegge+8jOeci+WIsOeahOWwseWPquaYr+S4gOS4suayoeacieaEj+S5ieeahOespuWPt+OAgjwvcD48cD7orrjlpJrml6fnmoTnvZHpobXoh7Pku4rku43nhLbkvb/nlKjov5nnp43nvJbnoIHlj5HluIPvvIzor7vlj5bogIXlupTlvZPlhYjmo4Dmn6Xlk43lupTlpLTvvIzlho3mo4Dmn6XpobXpnaLph4znmoTlo7DmmI7vvIzmnIDlkI7miY3moLnmja7lhoXlrrnmnaXnjJzmtYvjgII8L3A+PC9hcnRpY2xlPjwvYm9keT48L2h0bWw+",
  },
  {
    name: "utf-8-undeclared",
    text: "zh",
    charset: null,
    base64:
      "PGh0bWw+PGhlYWQ+PHRpdGxlPuS4reaWh+aWh+ahozwvdGl0bGU+PC9oZWFkPjxib2R5PjxhcnRpY2xlPjxoMT7kuK3mlofmlofmoaM8L2gxPjxwPui/meaYr+S4gOS7veeUqOS4reaWh+WGmeaIkOeahOaWh+aho+OAguWmguaenOivu+WPluiAheS4jeiDveato+ehruWIpOaWreWug+eahOe8luegge+8jOeci+WIsOeahOWwseWPquaYr+S4gOS4suayoeacieaEj+S5ieeahOespuWPt+OAgjwvcD48cD7orrjlpJrml6fnmoTnvZHpobXoh7Pku4rku43nhLbkvb/nlKjov5nnp43nvJbnoIHlj5HluIPvvIzor7vlj5bogIXlupTlvZPlhYjmo4Dmn6Xlk43lupTlpLTvvIzlho3mo4Dmn6XpobXpnaLph4znmoTlo7DmmI7vvIzmnIDlkI7miY3moLnmja7lhoXlrrnmnaXnjJzmtYvjgII8L3A+PC9hcnRpY2xlPjwvYm9keT48L2h0bWw+",
  },
  {
    name: "utf-8-header-wins",
    text: "de",
    charset: "utf-8",
    base64:
      "PGh0bWw+PGhlYWQ+PG1ldGEgY2hhcnNldD0iaXNvLTg4NTktMSI+PHRpdGxlPsOcYmVyIGdyw7bDn2VyZSDDhHBmZWw8L3RpdGxlPjwvaGVhZD48Ym9keT48YXJ0aWNsZT48aDE+w5xiZXIgZ3LDtsOfZXJlIMOEcGZlbDwvaDE+PHA+WnfDtmxmIEJveGvDpG1wZmVyIGphZ2VuIFZpa3RvciBxdWVyIMO8YmVyIGRlbiBncm/Dn2VuIFN5bHRlciBEZWljaCwgdW5kIG5pZW1hbmQgd2Vpw58sIHdhcnVtLiBEaWUgU3RyYcOfZSBuYWNoIFPDvGRlbiBpc3Qgc2VpdCBNw6RyeiBnZXNwZXJydCwgd2VpbCBkZXIgRmx1w58gw7xiZXIgZGllIFVmZXIgdHJhdC48L3A+PHA+RsO8ciBkaWUgUmVpc2UgbmFjaCBLw7ZsbiBicmF1Y2h0IG1hbiBHZWR1bGQsIGVpbiBCcsO2dGNoZW4gdW5kIGd1dGUgU2NodWhlOyBmcsO8aGVyIGZ1aHIgaGllciB0w6RnbGljaCBlaW4gWnVnLCBoZXV0ZSBudXIgbm9jaCBzb25udGFncy48L3A+PC9hcnRpY2xlPjwvYm9keT48L2h0bWw+",
  },
];

/** A page and the Markdown that it should give. */
export interface CharsetPage {
  readonly path: string;
  readonly route: Route;
  readonly expected: string;
}

/** All of them, below `/charset/`. */
export function charsetPages(): CharsetPage[] {
  return pages.map(({ name, text, charset, base64 }) => {
    const { title, paragraphs } = texts[text];
    const contentType = charset === null ? "text/html" : `text/html; charset=${charset}`;
    return {
      path: `/charset/${name}`,
      route: send(Buffer.from(base64, "base64"), contentType),
      expected: [`# ${title}`, ...paragraphs].join("\n\n"),
    };
  });
}
