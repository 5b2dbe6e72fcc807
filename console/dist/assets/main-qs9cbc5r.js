import{E}from"/console/assets/main-67jh9d26.js";import{e}from"/console/assets/main-y2evt8c3.js";function Re({text:t}){return t===null?e(y,{}):e(E,{text:t})}function y(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,y,oe};
