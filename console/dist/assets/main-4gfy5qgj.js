function ut(n){return n.map((r)=>`${r.map(s).join(",")}\r
`).join("")}function s(n){let e=!/^-?\d+(\.\d+)?$/.test(n)&&/^[=+\-@\t\r\n|]/.test(n)?`'${n}`:n;return/[",\r\n]/.test(e)?`"${e.replaceAll('"','""')}"`:e}function ct(n,r,e){let o=URL.createObjectURL(new Blob([r],{type:e})),t=document.createElement("a");t.href=o,t.download=n,t.click(),URL.revokeObjectURL(o)}
export{ut,ct};
