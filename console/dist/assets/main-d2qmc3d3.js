import{R}from"/console/assets/main-m5db0p27.js";import{e}from"/console/assets/main-1zrdxphy.js";function Re({text:t}){return t===null?e(g,{}):e(R,{text:t})}function g(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,g,oe};
