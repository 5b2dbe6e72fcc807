import{R}from"/console/assets/main-n2b3g2nj.js";import{e}from"/console/assets/main-q8th62mc.js";function Re({text:t}){return t===null?e(g,{}):e(R,{text:t})}function g(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,g,oe};
