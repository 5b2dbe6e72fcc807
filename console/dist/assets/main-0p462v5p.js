import{w}from"/console/assets/main-7hp6dr68.js";import{e}from"/console/assets/main-mmwysjme.js";function Re({text:t}){return t===null?e(b,{}):e(w,{text:t})}function b(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,b,oe};
