import{w}from"/console/assets/main-ywbdkqew.js";import{e}from"/console/assets/main-4e1e0cnx.js";function Re({text:t}){return t===null?e(y,{}):e(w,{text:t})}function y(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function oe({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{Re,y,oe};
