/** Markup of code as highlighters write it. */

/** Replaces each plain code block: `lines` are escaped HTML. */
function eachCodeBlock(html: string, write: (language: string, lines: readonly string[]) => string): string {
  return html.replaceAll(
    /<pre><code class="language-(\w+)">([\s\S]*?)<\/code><\/pre>/g,
    (_, language: string, code: string) => write(language, code.replace(/\n$/, "").split("\n")),
  );
}

/** Wraps words and quoted texts of a line of escaped HTML in spans, as highlighters do. */
function inSpans(line: string, classes: { word: string; text: string }): string {
  return line.replaceAll(/&quot;[^&]*&quot;|\b[a-zA-Z_]{3,}\b(?!;)/g, (token) =>
    token.startsWith("&quot;")
      ? `<span class="${classes.text}">${token}</span>`
      : `<span class="${classes.word}">${token}</span>`,
  );
}

const prismClasses = { word: "token plain", text: "token string" };
const pygmentsClasses = { word: "n", text: "s2" };
const hljsClasses = { word: "hljs-keyword", text: "hljs-string" };

/** Docusaurus: Prism, an element for each line, and a button to copy. */
export function docusaurusCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map(
      (line) => `<span class="token-line" style="color:#393A34">${inSpans(line, prismClasses)}<br></span>`,
    );
    const button = `<div class="buttonGroup__atx"><button type="button" aria-label="Copy code to clipboard" class="clean-btn"><span class="copyButtonIcons"><svg viewBox="0 0 24 24"></svg></span></button></div>`;
    return `<div class="language-${language} codeBlockContainer_Ckt0 theme-code-block"><div class="codeBlockContent_biex"><pre tabindex="0" class="prism-code language-${language} codeBlock_bY9V thin-scrollbar"><code class="codeBlockLines_e6Vv">${rows.join("")}</code></pre>${button}</div></div>`;
  });
}

/** Sphinx: Pygments without line numbers. */
export function sphinxCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map((line) => inSpans(line, pygmentsClasses));
    return `<div class="highlight-${language} notranslate"><div class="highlight"><pre><span></span>${rows.join("\n")}\n</pre></div></div>`;
  });
}

/** MkDocs: Pygments with line numbers in a table. */
export function mkdocsCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const numbers = lines.map((_, index) => `<span class="normal">${index + 1}</span>`).join("\n");
    const rows = lines.map(
      (line, index) => `<a id="__codelineno-0-${index + 1}"></a>${inSpans(line, pygmentsClasses)}`,
    );
    return `<div class="language-${language} highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre><span></span>${numbers}</pre></div></td><td class="code"><div><pre id="__code_0"><span></span><code>${rows.join("\n")}\n</code></pre></div></td></tr></table></div>`;
  });
}

const githubNames: Record<string, string> = { bash: "shell", sh: "shell" };

/** GitHub: `highlight-source-…`, and a button outside of the code. */
export function githubCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map((line) => inSpans(line, { word: "pl-c1", text: "pl-s" }));
    return `<div class="highlight highlight-source-${githubNames[language] ?? language} notranslate position-relative overflow-auto" dir="auto"><pre>${rows.join("\n")}</pre><div class="zeroclipboard-container"><clipboard-copy aria-label="Copy" value="x"></clipboard-copy></div></div>`;
  });
}

/** highlight.js. */
export function hljsCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map((line) => inSpans(line, hljsClasses));
    return `<pre><code class="hljs language-${language}" data-highlighted="yes">${rows.join("\n")}\n</code></pre>`;
  });
}

/** WordPress' SyntaxHighlighter, before its script has run. */
export function brushCode(html: string): string {
  return eachCodeBlock(
    html,
    (language, lines) =>
      `<pre class="wp-block-syntaxhighlighter-code brush: ${language}; notranslate">${lines.join("\n")}\n</pre>`,
  );
}

/** Hugo's Chroma. */
export function chromaCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map(
      (line) => `<span class="line"><span class="cl">${inSpans(line, pygmentsClasses)}\n</span></span>`,
    );
    return `<div class="highlight"><pre tabindex="0" class="chroma"><code data-lang="${language}">${rows.join("")}</code></pre></div>`;
  });
}

/** Rows of line number and line, as blame views and some plug-ins write them. */
export function lineTableCode(html: string): string {
  return eachCodeBlock(html, (language, lines) => {
    const rows = lines.map(
      (line, index) =>
        `<tr><td class="hljs-ln-numbers" data-line-number="${index + 1}"></td><td class="hljs-ln-code">${line}</td></tr>`,
    );
    return `<pre><code class="hljs ${language} language-${language}"><table class="hljs-ln"><tbody>${rows.join("")}</tbody></table></code></pre>`;
  });
}
