//# allFunctionsCalledOnLoad
function Pt(t){let n=new FormData(t);return(r)=>{let e=n.get(r);return typeof e==="string"?e.replaceAll(`\r
`,`
`).trim():""}}
export{Pt};
