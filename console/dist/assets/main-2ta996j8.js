import{x}from"/console/assets/main-4zz2v3mh.js";import{e}from"/console/assets/main-kva1q0gp.js";function Me({text:t}){return t===null?e(g,{}):e(x,{text:t})}function g(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function ee({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Me,g,ee};
