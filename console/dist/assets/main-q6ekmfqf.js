import{R}from"/console/assets/main-s4hk29hm.js";import{e}from"/console/assets/main-hh80x3p0.js";function Re({text:t}){return t===null?e(g,{}):e(R,{text:t})}function g(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,g,oe};
